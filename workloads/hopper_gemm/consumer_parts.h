#pragma once

#include "workloads/common/program.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {

// Registers that the pieces of a consumer warpgroup's code agree on.
struct HopperRegisters {
  static constexpr uint32_t kFirstPacked = 8;        // R8-R15: packed results before their store to shared memory, or scales
  static constexpr uint32_t kFirstAccumulator = 24;  // first accumulator of the tensor core
};

// First register of the tile's final sums. They follow the tensor core's accumulators if partial sums are promoted, and are those
// accumulators otherwise.
uint32_t first_sum(const HopperPlan& plan);

// Adds the i-th wgmma of a k-block: k-steps are the outer loop, 64-row blocks the inner one. The last wgmma commits the group.
void add_wgmma(Code& code, const HopperPlan& plan, uint32_t index, bool first);

// Move a tile from registers through shared memory to L2: CUTLASS's epilogue, and DeepGEMM's.
void add_sub_tile_epilogue(Code& code, const HopperPlan& plan, int group);
void add_whole_tile_epilogue(Code& code, const HopperPlan& plan, int group);
// WHOLE_TILE: waits, before the next tile's products, until TMA has read the last tile's buffer and all consumers have arrived.
void add_whole_tile_wait(Code& code, const HopperPlan& plan);

// `count` sums from register `first` on. Their results go to registers from `to` on; SWIGLU makes one result of two sums.
struct Sums {
  uint32_t first;
  uint32_t count;
  uint32_t to;
};

// Fused operations of the epilogue. `add_fusion_start` loads vectors to shared memory and registers, before a tile's first result.
// `add_fusion` applies the operations to some sums. `add_row_quantisation` makes the scales of the tile's rows, after every sum has
// become a result.
void add_fusion_start(Code& code, const HopperPlan& plan, int group);
void add_fusion(Code& code, const HopperPlan& plan, int group, Sums sums);
void add_row_quantisation(Code& code, const HopperPlan& plan);

// Split k: store the part's sums to memory in FP32, and add the sums that an earlier part has stored.
void add_part_store(Code& code, const HopperPlan& plan, int16_t stream);
void add_part_addition(Code& code, const HopperPlan& plan);
// Poll a tile's semaphore once, and set it for the next part.
void add_turn_poll(Code& code);
void add_turn_end(Code& code, int group);

// BLOCK_SCALED: clears the sums and starts to load the tile's scales of B into shared memory; runs one k-block, whose sums are
// scaled and promoted.
void add_scaled_tile_start(Code& code, const HopperPlan& plan);
void add_scaled_k_block(Code& code, const HopperPlan& plan, int group);

}  // namespace warpfold::workloads
