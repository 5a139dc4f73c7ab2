#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "workloads/common/attention_shape.h"
#include "workloads/common/gradient_streams.h"
#include "workloads/common/program.h"

namespace warpfold::workloads {

// FlashAttention-2 for one shape and GPU, with the library's tiles.
//
// Source of tiles, warps and shared memory: Dao-AILab/flash-attention, csrc/flash_attn/src/flash_fwd_launch_template.h (@01afd16d),
// flash_bwd_launch_template.h (@073afd59), kernel_traits.h (@0a4755ed). Queries x keys, warps:
//
//   forward     without dropout                             with dropout
//   64          128 x 128, 4                                128 x 64, 4
//   128         128 x 64, 4; sm_86 128 x 32, causal 64 x 64  128 x 32, 4
//   256         128 x 64, 8 (A100) or 64 x 64, 4 (other GPUs: two CTAs per SM, or as fits), with and without dropout
//
// Split keys or pages (run_mha_fwd_splitkv_dispatch): 64 x 256, 64 x 128 and 64 x 64, 4 warps; a tile holds the queries of all
// heads of a KV head. If warps share keys: 16 x 128, or 16 x 64 at head_dim 256, after flashinfer-ai/flashinfer,
// include/flashinfer/utils.cuh (FA2DetermineCtaTileQ) and attention/prefill.cuh (KernelTraits); assumed: as many keys as let two
// CTAs fit an SM.
struct FlashAttention2Plan {
  const isa::Architecture* architecture;
  configs::AttentionShape shape;
  uint32_t tile_queries;
  uint32_t tile_keys;
  uint32_t warps;
  uint32_t rounds;  // rounds of Philox, if dropout is fused
  AttentionTiles tiles;
  uint32_t splits = 1;     // parts into which a tile's keys are cut
  uint32_t page_keys = 0;  // 0: no pages
  uint32_t key_warps = 1;  // warps among which a block's keys are divided; the remaining factor of `warps` divides its rows

  bool hopper() const { return architecture->name() == "sm_90"; }
  bool bf16() const { return shape.type() == configs::BF16; }
  uint32_t head_dim() const { return tiles.head_dim(); }
  uint32_t threads() const { return warps * 32; }
  uint64_t ctas() const { return tiles.query_tiles().size() * tiles.heads() * tiles.batch(); }
  // Blocks of 16 rows per warp.
  uint32_t row_blocks() const { return tile_queries * key_warps / warps / 16; }
  uint32_t warp_keys() const { return tile_keys / key_warps; }
  // Rows of a tile that exist. If there are several tiles, all count as full.
  uint32_t rows() const { return static_cast<uint32_t>(std::min<uint64_t>(tiles.queries(), tile_queries)); }
  // The part of a warp's `bytes` for a whole tile that belongs to existing rows.
  uint32_t bytes_of_rows(uint32_t bytes) const { return (bytes * rows() + tile_queries - 1) / tile_queries; }
};

// The backward pass: a CTA holds a block of keys and loops over the queries. Source as above. It always has 8 warps. The columns
// show queries x keys of a tile; warps along the rows x columns of S and dP, of dK and dV, and of dQ; and the buffers of Q:
//
//   64     128 x 128    4 x 2    4 x 2    4 x 2    two buffers of Q
//   128     64 x 128    2 x 4    4 x 2    2 x 4    two
//   256     64 x 64     4 x 2    2 x 4    2 x 4    two (H100), one (A100)
struct FlashAttention2BackwardPlan {
  FlashAttention2Plan common;  // tile and warps of the backward pass
  uint32_t score_rows;         // warps along the rows of S and dP
  uint32_t key_rows;           // warps along the rows of dK and dV
  uint32_t query_rows;         // warps along the rows of dQ
  bool two_q_buffers;

  uint32_t shared_memory_bytes() const;
  uint64_t key_blocks() const { return (common.tiles.keys() + common.tile_keys - 1) / common.tile_keys; }
  // Query blocks that a key block meets. Blocks that the causal mask or the end of the sequence cuts count as masked.
  QueryTile query_blocks(uint64_t key_block) const;
};

Expected<FlashAttention2Plan> plan_flash_attention_2_forward(const configs::FlashAttention2& attention, const configs::Gpu& gpu);

Expected<FlashAttention2BackwardPlan> plan_flash_attention_2_backward(const configs::AttentionShape& shape,
                                                                      const configs::Gpu& gpu);

// "F2FP.PACK_AB" with the spelling of the architecture and the element type.
std::string pack_mnemonic(const FlashAttention2Plan& plan);

// Streams of the forward pass, by index in the kernel.
enum ForwardStream : int16_t { kStreamQ = 0, kStreamK = 1, kStreamV = 2, kStreamO = 3, kStreamBits = 4 };

std::vector<traces::Node> flash_attention_2_forward_body(const FlashAttention2Plan& plan);

std::vector<traces::Node> flash_attention_2_backward_body(const FlashAttention2BackwardPlan& plan);

// Streams of the kernels before and after the backward pass.
enum PrepareStream : int16_t { kPrepareOutput = 0, kPrepareOutputGradient = 1, kPrepareQueryGradient = 2, kPrepareRows = 3 };
enum ConvertStream : int16_t { kConvertSums = 0, kConvertQueryGradient = 1 };

std::vector<traces::Node> flash_attention_2_prepare_body(const FlashAttention2BackwardPlan& plan);
std::vector<traces::Node> flash_attention_2_convert_body(const FlashAttention2BackwardPlan& plan);

}  // namespace warpfold::workloads
