#pragma once

#include <cstdint>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-3's backward pass with every default filled in: what the library decides before it launches.
//
// A CTA has a block of keys and goes through the blocks of queries that meet it. Each of two consumer warpgroups has half of the
// keys of S and dP, whose rows are keys here, and of dV and dK; of dQ it has half of the block (of its columns where a block has 64
// queries, of its rows where it has 128).
struct FlashAttention3BackwardPlan {
  const isa::Architecture* architecture;
  AttentionTiles tiles;
  configs::ElementType type = configs::FP16;
  uint32_t tile_queries = 64;

  static constexpr uint32_t kTileKeys = 128;
  static constexpr uint32_t kStages = 2;  // of Q with its log-sum-exp, of dO with its dot(O, dO), of dS
  static constexpr uint32_t kConsumers = 2;
  static constexpr uint32_t kConsumerWarps = 4 * kConsumers;
  static constexpr uint32_t kConsumerThreads = 128 * kConsumers;
  static constexpr uint32_t kThreads = kConsumerThreads + 128;
  static constexpr uint32_t kStepElements = 16;  // k of a wgmma
  static constexpr uint32_t kProducerRegisters = 24;
  static constexpr uint32_t kConsumerRegisters = 240;
  static constexpr uint32_t kRegistersPerThread = 168;

  uint32_t head_dim() const { return tiles.head_dim(); }
  bool causal() const { return tiles.causal(); }
  uint32_t boxes() const { return head_dim() * 2 / 128; }  // of TMA: rows of 128 bytes
  // Of a thread, in FP32.
  uint32_t scores() const { return tile_queries * kTileKeys / kConsumerThreads; }
  uint32_t key_gradients() const { return kTileKeys * head_dim() / kConsumerThreads; }  // dK, and dV
  uint32_t query_gradients() const { return tile_queries * head_dim() / kConsumerThreads; }
  uint32_t query_gradient_columns() const { return query_gradients() * 2; }  // of a wgmma of 64 rows
  uint32_t row_pairs() const { return tile_queries / 8; }  // of numbers of queries: a thread's scores are of a quarter
  uint32_t query_tile_bytes() const { return tile_queries * head_dim() * 2; }
  uint32_t key_tile_bytes() const { return kTileKeys * head_dim() * 2; }
  uint32_t shared_memory_bytes() const;

  uint64_t key_blocks() const { return (tiles.keys() + kTileKeys - 1) / kTileKeys; }
  uint64_t query_tiles() const { return (tiles.queries() + tile_queries - 1) / tile_queries; }
  // Blocks of queries that a block of keys meets. The library masks a fixed number of them, whether or not the diagonal cuts them.
  QueryTile query_blocks(uint64_t key_block) const;
};

// Fails with what does not fit: the architecture, the type, options of the forward pass.
Expected<FlashAttention3BackwardPlan> plan_flash_attention_3_backward(const configs::FlashAttention3& attention,
                                                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
