#pragma once

#include "isa/architecture.h"
#include "traces/kernel.h"
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
};
struct HopperParameters {
  static constexpr int32_t kTiles = 0;         // of the CTA
  static constexpr int32_t kTilesOfGroup = 1;  // + warpgroup: PINGPONG deals the CTA's tiles out in turn
};

// Bodies of the roles; `group` is 0 or 1.
std::vector<traces::Node> producer_body(const isa::Architecture& architecture, const HopperPlan& plan);
std::vector<traces::Node> producer_idle_body(const isa::Architecture& architecture, const HopperPlan& plan);
std::vector<traces::Node> consumer_body(const isa::Architecture& architecture, const HopperPlan& plan, int group);

}  // namespace warpfold::workloads
