#pragma once

#include "workloads/common/program.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {

// Pieces that a consumer warpgroup of a Hopper GEMM is put together from.
struct HopperRegisters {
  static constexpr uint32_t kFirstPacked = 8;        // R8-R15: packed results on their way to shared memory, or scales
  static constexpr uint32_t kFirstAccumulator = 24;  // of the tensor core
};

// Where the tile's sums stand at the end: behind the tensor core's own accumulators when partial sums are promoted.
uint32_t first_sum(const HopperPlan& plan);

// The i-th wgmma of a k-block: k-steps outside, 64-row blocks inside. The last one ends the group.
void add_wgmma(Code& code, const HopperPlan& plan, uint32_t index, bool first);

// A tile's way through shared memory to L2, CUTLASS's and DeepGEMM's.
void add_sub_tile_epilogue(Code& code, const HopperPlan& plan, int group);
void add_whole_tile_epilogue(Code& code, const HopperPlan& plan, int group);
// Until the last tile's buffer is read and all consumers are here: WHOLE_TILE, before the products of the next one.
void add_whole_tile_wait(Code& code, const HopperPlan& plan);

// `count` sums from `first` on, whose results go to `to` and behind it: half as many where one is made of two.
struct Sums {
  uint32_t first;
  uint32_t count;
  uint32_t to;
};

// What is fused: before a tile's first result, vectors on their way into shared memory and registers; some sums; the scales of the
// tile's rows, once every sum has become a result.
void add_fusion_start(Code& code, const HopperPlan& plan, int group);
void add_fusion(Code& code, const HopperPlan& plan, int group, Sums sums);
void add_row_quantisation(Code& code, const HopperPlan& plan);

// Parts of k. A part's sums go to memory in FP32, or come from there and are added.
void add_part_store(Code& code, const HopperPlan& plan, int16_t stream);
void add_part_addition(Code& code, const HopperPlan& plan);
// One look at a tile's semaphore; after a part, whose turn comes next.
void add_turn_poll(Code& code);
void add_turn_end(Code& code, int group);

// BLOCK_SCALED: sums cleared and the tile's scales of B on their way into shared memory; one k-block, its sums scaled and promoted.
void add_scaled_tile_start(Code& code, const HopperPlan& plan);
void add_scaled_k_block(Code& code, const HopperPlan& plan, int group);

}  // namespace warpfold::workloads
