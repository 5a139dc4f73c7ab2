#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// softmax(Q K^T) V as the FlashAttention-4 library runs it on datacenter Blackwell (Dao-AILab/flash-attention @0251105,
// flash_attn/cute/flash_fwd_sm100.py; arXiv 2603.05451). A CTA has two tiles of 128 queries. Tensor memory holds the scores S of
// each tile, which P overwrites, and its sums O. The CTA loops over blocks of 128 keys:
//
//   warps 0-3, 4-7  softmax0, softmax1  a thread a row: S to registers, row maximum, exponentials, P to tensor memory
//   warps 8-11      correction          rescales O if a maximum has grown much, at the end divides O by the row's sum
//   warp 12         multiply            one thread issues all products: P V of the previous block and Q K^T of this one, per tile
//   warp 13         epilogue            O from shared memory to memory
//   warp 14         load                Q, then K and V through one ring
//   warp 15         spare
//
// The backward passes are in backward.h.
//
// Not modelled: waits of a pair's leader for its peer (docs/decisions/0026-tensor-memory.md).
Expected<traces::Kernel> make_flash_attention_4(const configs::FlashAttention4& attention, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
