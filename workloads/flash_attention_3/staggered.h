#pragma once

#include <vector>

#include "workloads/flash_attention_3/exponentials.h"

namespace warpfold::workloads {

// Softmax of a block of 16-bit elements after the first block, without overlap. The first row's exponentials begin before the
// second row's maximum is complete, and O is rescaled among them. Disassembled (head_dim 128, fp16, 128 x 176, CUDA 12.4): the
// first release (flash-attention 7f67966) with its loop changed to that of the 2025 library for IntraWGOverlap = false
// (mainloop_fwd_sm90_tma_gmma_ws.hpp, "No intra-WG overlap"). CUDA 13.0 compiles the 2025 library's kernel to the same parts in the
// same places, with the first row's exponentials still earlier.
void add_staggered_maxima(Code& code, const FlashAttention3Plan& plan);
// The steps among the exponentials that follow.
ExponentialsOrder staggered_order(const FlashAttention3Plan& plan);

}  // namespace warpfold::workloads
