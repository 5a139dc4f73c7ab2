#pragma once

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/common/program.h"
#include "workloads/hopper_gemm/plan.h"

namespace warpfold::workloads {

// The parts of a Hopper GEMM kernel that its roles refer to by index.
struct HopperRings {
  static constexpr int16_t kFull = 0;           // stages that TMA has filled
  static constexpr int16_t kEmpty = 1;          // stages that the consumers have released
  static constexpr int16_t kMainOrder = 2;      // + warpgroup; PINGPONG: whose main loop may run
  static constexpr int16_t kEpilogueOrder = 4;  // + warpgroup; PINGPONG: whose epilogue may run
};
struct HopperCursors {
  static constexpr int16_t kProducer = 0;
  static constexpr int16_t kRead = 1;     // + warpgroup: stage that wgmma reads next
  static constexpr int16_t kRelease = 3;  // + warpgroup: stage to give back next, one k-block behind
  static constexpr int16_t kMainOrder = 5;
  static constexpr int16_t kEpilogueOrder = 6;
};
struct HopperBarriers {
  static constexpr int16_t kConsumers = 3;  // both consumer warpgroups; 1 and 2 are each one's own
};
struct HopperStreams {
  static constexpr int16_t kA = 0;
  static constexpr int16_t kB = 1;
  static constexpr int16_t kC = 2;
  static constexpr int16_t kPartsWritten = 3;  // parts of k, SERIAL; unused otherwise
  static constexpr int16_t kPartsRead = 4;
  // Behind them where something is fused: factors and biases, the residual, the scales that a quantised result leaves.
  static constexpr int16_t kVectors = 5;
  static constexpr int16_t kResidual = 6;
  static constexpr int16_t kScales = 7;
};
// The rings of a residual's sub-tiles, behind all others: filled, given back; of each warpgroup. Its cursors: read, given back,
// loaded.
struct ResidualRings {
  static constexpr uint32_t kDepth = 2;  // sub-tiles, as buffers of the result, whose room CUTLASS gives them (ReuseSmemC)
  explicit ResidualRings(const HopperPlan& plan, int group)
      : full(static_cast<int16_t>((plan.pingpong ? 6 : 2) + 2 * group)), cursor(static_cast<int16_t>(plan.pingpong ? 7 : 5)) {}
  int16_t full;
  int16_t empty() const { return static_cast<int16_t>(full + 1); }
  int16_t cursor;
};
struct HopperParameters {
  static constexpr int32_t kTiles = 0;         // of the CTA
  static constexpr int32_t kTilesOfGroup = 1;  // + warpgroup: PINGPONG deals the CTA's tiles out in turn
  // SERIAL parts of k: looks at the semaphore; 1 where sums are added, are stored for the next part, are the tile's.
  static constexpr int32_t kTurns = 0;
  static constexpr int32_t kAdds = 1;
  static constexpr int32_t kStores = 2;
  static constexpr int32_t kEnds = 3;
  // Stream-K, behind kTiles: k-blocks of the tile that is ended, of the one that is begun; 1 where there is one; k-blocks but the
  // first.
  static constexpr int32_t kEnded = 1;
  static constexpr int32_t kBegun = 2;
  static constexpr int32_t kHasEnded = 3;
  static constexpr int32_t kHasBegun = 4;
  static constexpr int32_t kEndedRest = 5;
  static constexpr int32_t kBegunRest = 6;
};

// A tile's group from the table, which L2 holds: DeepGEMM's scheduler (get_next_block, get_global_idx) loads it for every tile,
// with masked rows in every role, and sums up rows until the tile is reached. assumed: one group further a tile.
void add_group_lookup(Code& code);

// Bodies of the roles; `group` is 0 or 1.
std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const HopperPlan& plan);
std::vector<traces::Node> producer_idle_body(const isa::Architecture& architecture, const HopperPlan& plan);
// Loads the residual's sub-tiles for warpgroup `group`, as CUTLASS's epilogue load warp does.
std::vector<traces::Node> residual_body(const isa::Architecture& architecture, const HopperPlan& plan, int group);
std::vector<traces::Node> consumer_body(const isa::Architecture& architecture, const HopperPlan& plan, int group);

}  // namespace warpfold::workloads
