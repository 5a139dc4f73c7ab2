#pragma once

#include <cstdint>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-4's backward pass with every default filled in: the choices that the library makes before the launch.
//
// A CTA holds a block of 128 keys and loops over the blocks of 128 queries that meet it. Scores are computed transposed: each row
// is a key. Columns of tensor memory, 512 in total:
//
//   one CTA   S, then P: 0   dV: 128   dP, then dS, then dQ: 128 + head_dim   dK: 256 + head_dim
//   a pair    S, then P in the first 64, dQ in the last: 0   dV: 128   dP, then dS: 256   dK: 384
//
// A pair of CTAs holds 256 keys. Each CTA loads half of Q and dO as its part of a product's right operand. The product dQ is a sum
// over all 256 keys, and each CTA computes 64 of its queries. Each CTA therefore sends half of its dS to the other CTA's shared
// memory.
struct FlashAttention4BackwardPlan {
  const isa::Architecture* architecture;
  AttentionTiles tiles;
  configs::ElementType type = configs::BF16;
  bool pair = false;
  bool deterministic = false;
  bool own_columns = false;         // P and dS do not share columns with S and dP
  uint32_t reduce_registers = 152;  // per thread, after setmaxnreg
  uint32_t compute_registers = 136;
  uint32_t other_registers = 88;
  uint32_t added_columns = 32;  // columns of dQ per bulk addition: FP32 numbers per thread
  uint32_t added_stages = 2;    // buffers in shared memory for such additions

  static constexpr uint32_t kTile = 128;  // keys, and queries
  static constexpr uint32_t kStep = 16;   // k of a product: 32 bytes
  static constexpr uint32_t kThreads = 512;
  static constexpr uint32_t kRegistersPerThread = 128;  // limit at launch
  static constexpr uint32_t kEmptyRegisters = 24;
  static constexpr uint32_t kTensorMemoryColumns = 512;
  static constexpr uint32_t kComputeWarps = 8;
  static constexpr uint32_t kReduceWarps = 4;
  static constexpr uint32_t kFragment = 32;  // scores, of 64 per thread, that are loaded, processed and stored together
  static constexpr uint32_t kFragments = 2;
  static constexpr uint32_t kRowBytes = kTile * 4;  // log-sum-exp, or dot(O, dO), of a block of queries

  uint32_t head_dim() const { return tiles.head_dim(); }
  bool causal() const { return tiles.causal(); }
  uint32_t group() const { return pair ? 2 : 1; }  // CTAs that multiply together
  uint32_t query_stages() const { return pair ? 1 : 2; }
  uint32_t tile_bytes() const { return kTile * head_dim() * 2; }     // a tile of Q, K, V or dO
  uint32_t operand_bytes() const { return tile_bytes() / group(); }  // one CTA's part of a right operand
  uint32_t score_bytes() const { return kTile * kTile * 2; }         // a tile of dS
  uint32_t boxes() const { return head_dim() * 2 / 128; }            // TMA boxes, with rows of 128 bytes
  // FP32 numbers of dQ per thread of the four reduce warps.
  uint32_t query_gradients() const { return head_dim() / group(); }
  uint32_t additions() const { return query_gradients() / added_columns; }
  uint32_t addition_bytes() const { return kTile * added_columns * 4; }
  bool shares_keys() const { return tiles.heads() > tiles.kv_heads(); }  // dK and dV are sums over heads
  uint32_t shared_memory_bytes() const;

  uint64_t key_blocks() const;  // per head; with pairs an even number
  uint64_t query_tiles() const { return (tiles.queries() + kTile - 1) / kTile; }
  // Blocks of queries that a block of keys meets. With pairs: blocks that at least one block of the pair meets.
  uint64_t query_blocks(uint64_t key_block) const;
};

// Fails if the architecture is not supported, or if options of the forward pass are set.
Expected<FlashAttention4BackwardPlan> plan_flash_attention_4_backward(const configs::FlashAttention4& attention,
                                                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
