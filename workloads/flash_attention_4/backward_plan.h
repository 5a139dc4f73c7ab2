#pragma once

#include <cstdint>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-4's backward pass with every default filled in: what the library decides before it launches.
//
// A CTA has a block of 128 keys and goes through the blocks of 128 queries that meet it. Scores are made transposed, a key a row.
// Columns of tensor memory, of 512:
//
//   one CTA   S, then P: 0   dV: 128   dP, then dS, then dQ: 128 + head_dim   dK: 256 + head_dim
//   a pair    S, then P in the first 64, dQ in the last: 0   dV: 128   dP, then dS: 256   dK: 384
//
// A pair of CTAs has 256 keys. Of Q and dO each CTA loads half of what a product's right operand is; of dQ, a sum over all 256
// keys, each has 64 queries, for which half of its dS goes to the other's shared memory.
struct FlashAttention4BackwardPlan {
  const isa::Architecture* architecture;
  AttentionTiles tiles;
  configs::ElementType type = configs::BF16;
  bool pair = false;
  bool deterministic = false;
  bool own_columns = false;         // P and dS have columns of their own
  uint32_t reduce_registers = 152;  // a thread, after setmaxnreg
  uint32_t compute_registers = 136;
  uint32_t other_registers = 88;
  uint32_t added_columns = 32;  // of dQ that a bulk addition takes: FP32 numbers of a thread
  uint32_t added_stages = 2;    // of these in shared memory

  static constexpr uint32_t kTile = 128;  // keys, and queries
  static constexpr uint32_t kStep = 16;   // k of a product: 32 bytes
  static constexpr uint32_t kThreads = 512;
  static constexpr uint32_t kRegistersPerThread = 128;  // at launch
  static constexpr uint32_t kEmptyRegisters = 24;
  static constexpr uint32_t kTensorMemoryColumns = 512;
  static constexpr uint32_t kComputeWarps = 8;
  static constexpr uint32_t kReduceWarps = 4;
  static constexpr uint32_t kFragment = 32;  // scores of a row, of 64 a thread, that are loaded, made and stored at a time
  static constexpr uint32_t kFragments = 2;
  static constexpr uint32_t kRowBytes = kTile * 4;  // log-sum-exp, or dot(O, dO), of a block of queries

  uint32_t head_dim() const { return tiles.head_dim(); }
  bool causal() const { return tiles.causal(); }
  uint32_t group() const { return pair ? 2 : 1; }  // CTAs that multiply together
  uint32_t query_stages() const { return pair ? 1 : 2; }
  uint32_t tile_bytes() const { return kTile * head_dim() * 2; }     // of Q, K, V, dO
  uint32_t operand_bytes() const { return tile_bytes() / group(); }  // of a right operand, in a CTA
  uint32_t score_bytes() const { return kTile * kTile * 2; }         // of dS
  uint32_t boxes() const { return head_dim() * 2 / 128; }            // of TMA: rows of 128 bytes
  // FP32 numbers of dQ of a thread of the four warps that add it.
  uint32_t query_gradients() const { return head_dim() / group(); }
  uint32_t additions() const { return query_gradients() / added_columns; }
  uint32_t addition_bytes() const { return kTile * added_columns * 4; }
  bool shares_keys() const { return tiles.heads() > tiles.kv_heads(); }  // dK and dV are sums over heads
  uint32_t shared_memory_bytes() const;

  uint64_t key_blocks() const;  // of a head, an even number of pairs
  uint64_t query_tiles() const { return (tiles.queries() + kTile - 1) / kTile; }
  // Blocks of queries that a block of keys meets; of a pair those that either does.
  uint64_t query_blocks(uint64_t key_block) const;
};

// Fails with what does not fit: the architecture, options of the forward pass.
Expected<FlashAttention4BackwardPlan> plan_flash_attention_4_backward(const configs::FlashAttention4& attention,
                                                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
