#pragma once

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {

// Rings, cursors, barriers, streams and parameters of a Hopper GEMM kernel, by the index that its roles use.
struct HopperRings {
  static constexpr int16_t kFull = 0;           // stages that TMA has filled
  static constexpr int16_t kEmpty = 1;          // stages that the consumers have released
  static constexpr int16_t kMainOrder = 2;      // + warpgroup; PINGPONG: permission to run the main loop
  static constexpr int16_t kEpilogueOrder = 4;  // + warpgroup; PINGPONG: permission to run the epilogue
};
struct HopperCursors {
  static constexpr int16_t kProducer = 0;
  static constexpr int16_t kRead = 1;     // + warpgroup: stage that wgmma reads next
  static constexpr int16_t kRelease = 3;  // + warpgroup: next stage to release, one k-block behind kRead
  static constexpr int16_t kMainOrder = 5;
  static constexpr int16_t kEpilogueOrder = 6;
};
struct HopperBarriers {
  static constexpr int16_t kConsumers = 3;  // both consumer warpgroups; barriers 1 and 2 belong to one warpgroup each
};
struct HopperStreams {
  static constexpr int16_t kA = 0;
  static constexpr int16_t kB = 1;
  static constexpr int16_t kC = 2;
  static constexpr int16_t kPartsWritten = 3;  // SERIAL parts of k, and stream-K; unused otherwise
  static constexpr int16_t kPartsRead = 4;
  // Present if the epilogue is fused: scales and biases, the residual, and the scales of a quantised result.
  static constexpr int16_t kVectors = 5;
  static constexpr int16_t kResidual = 6;
  static constexpr int16_t kScales = 7;
};
// Rings of a residual's sub-tiles, behind all other rings: a full and an empty ring for each warpgroup. One cursor serves the load,
// the read and the release.
struct ResidualRings {
  static constexpr uint32_t kDepth = 2;  // sub-tiles: they use the room of the result's buffers, as in CUTLASS (ReuseSmemC)
  explicit ResidualRings(const HopperPlan& plan, int group)
      : full(static_cast<int16_t>((plan.pingpong ? 6 : 2) + 2 * group)), cursor(static_cast<int16_t>(plan.pingpong ? 7 : 5)) {}
  int16_t full;
  int16_t empty() const { return static_cast<int16_t>(full + 1); }
  int16_t cursor;
};
struct HopperParameters {
  static constexpr int32_t kTiles = 0;         // per CTA
  static constexpr int32_t kTilesOfGroup = 1;  // + warpgroup; PINGPONG: the two warpgroups take the CTA's tiles in turn
  // SERIAL parts of k: number of polls; 1 if the part adds earlier sums; 1 if it stores sums for the next part; 1 if it completes
  // the tile.
  static constexpr int32_t kPolls = 0;
  static constexpr int32_t kAdds = 1;
  static constexpr int32_t kStores = 2;
  static constexpr int32_t kEnds = 3;
  // Stream-K, after kTiles: k-blocks of a tile that this CTA completes, and of a tile that another CTA completes; 1 if there is
  // such a tile; the same k-blocks without the first.
  static constexpr int32_t kEnded = 1;
  static constexpr int32_t kBegun = 2;
  static constexpr int32_t kHasEnded = 3;
  static constexpr int32_t kHasBegun = 4;
  static constexpr int32_t kEndedRest = 5;
  static constexpr int32_t kBegunRest = 6;
};

// Looks up a tile's group in a table that lies in L2. DeepGEMM's scheduler (get_next_block, get_global_idx) loads the table for
// every tile, in every role if rows are masked, and adds up rows until it reaches the tile. assumed: one group per tile.
void add_group_lookup(Code& code);

// Bodies of the roles; `group` is the consumer warpgroup, 0 or 1.
std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const HopperPlan& plan);
std::vector<traces::Node> producer_idle_body(const isa::Architecture& architecture, const HopperPlan& plan);
// Loads the residual's sub-tiles for warpgroup `group`, as CUTLASS's epilogue load warp does.
std::vector<traces::Node> residual_body(const isa::Architecture& architecture, const HopperPlan& plan, int group);
std::vector<traces::Node> consumer_body(const isa::Architecture& architecture, const HopperPlan& plan, int group);

}  // namespace warpfold::workloads
