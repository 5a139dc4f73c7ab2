#pragma once

#include <vector>

#include "workloads/flash_attention_3/exponentials.h"

namespace warpfold::workloads {

// Softmax of a block of 16-bit elements behind the first one, without overlap: the second row's maximum is still on its way when
// the first row's exponentials begin, and O shrinks among them. Disassembled (head_dim 128, fp16, 128 x 176, CUDA 12.4): the first
// release (flash-attention 7f67966) with its loop changed to the one that the 2025 library has for IntraWGOverlap = false
// (mainloop_fwd_sm90_tma_gmma_ws.hpp, "No intra-WG overlap"). CUDA 13.0 compiles the 2025 library's kernel to the same parts in the
// same places, with the first row's exponentials earlier yet.
void add_staggered_maxima(Code& code, const FlashAttention3Plan& plan);
// What stands among the exponentials that follow.
ExponentialsOrder staggered_order(const FlashAttention3Plan& plan);

}  // namespace warpfold::workloads
