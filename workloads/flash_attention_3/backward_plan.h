#pragma once

#include <cstdint>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "isa/architecture.h"
#include "workloads/common/attention_shape.h"

namespace warpfold::workloads {

// FlashAttention-3's backward pass with every default filled in: the choices that the library makes before the launch.
//
// A CTA holds a block of keys and loops over the blocks of queries that meet it. Each of two consumer warpgroups has half of the
// keys: of S and dP, whose rows are keys here, and of dV and dK. It also has half of dQ's block (half of the columns if a block has
// 64 queries, half of the rows if it has 128).
struct FlashAttention3BackwardPlan {
  const isa::Architecture* architecture;
  AttentionTiles tiles;
  configs::ElementType type = configs::FP16;
  uint32_t tile_queries = 64;

  static constexpr uint32_t kTileKeys = 128;
  static constexpr uint32_t kStages = 2;  // stages of Q with its log-sum-exp, of dO with its dot(O, dO), and of dS
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
  uint32_t boxes() const { return head_dim() * 2 / 128; }  // TMA boxes, with rows of 128 bytes
  // FP32 numbers per thread.
  uint32_t scores() const { return tile_queries * kTileKeys / kConsumerThreads; }
  uint32_t key_gradients() const { return kTileKeys * head_dim() / kConsumerThreads; }  // dK, and dV
  uint32_t query_gradients() const { return tile_queries * head_dim() / kConsumerThreads; }
  uint32_t query_gradient_columns() const { return query_gradients() * 2; }  // per wgmma of 64 rows
  uint32_t row_pairs() const { return tile_queries / 8; }  // pairs of per-query values: a thread has a quarter of the queries
  uint32_t query_tile_bytes() const { return tile_queries * head_dim() * 2; }
  uint32_t key_tile_bytes() const { return kTileKeys * head_dim() * 2; }
  uint32_t shared_memory_bytes() const;

  uint64_t key_blocks() const { return (tiles.keys() + kTileKeys - 1) / kTileKeys; }
  uint64_t query_tiles() const { return (tiles.queries() + tile_queries - 1) / tile_queries; }
  // Blocks of queries that a block of keys meets. The library masks a fixed number of them, whether or not the diagonal cuts them.
  QueryTile query_blocks(uint64_t key_block) const;
};

// Fails if the architecture or the type is not supported, or if options of the forward pass are set.
Expected<FlashAttention3BackwardPlan> plan_flash_attention_3_backward(const configs::FlashAttention3& attention,
                                                                      const configs::Gpu& gpu);

}  // namespace warpfold::workloads
