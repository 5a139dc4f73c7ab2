#pragma once

#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/blackwell_gemm/plan.h"

namespace warpfold::workloads {

// Rings, cursors and streams of a Blackwell GEMM kernel, by the index that its roles use.
struct BlackwellRings {
  static constexpr int16_t kFull = 0;   // stages that TMA has filled
  static constexpr int16_t kEmpty = 1;  // stages whose products are complete
  static constexpr int16_t kSums = 2;   // accumulators whose tile is complete
  static constexpr int16_t kFree = 3;   // accumulators that the epilogue has read
  static constexpr int16_t kStart = 4;  // clusters: the CTAs whose barriers are initialised
};
struct BlackwellCursors {
  static constexpr int16_t kLoad = 0;
  static constexpr int16_t kUse = 1;
  static constexpr int16_t kTile = 2;
  static constexpr int16_t kOut = 3;
};
struct BlackwellStreams {
  static constexpr int16_t kA = 0;
  static constexpr int16_t kB = 1;
  static constexpr int16_t kC = 2;
};
constexpr int32_t kTilesParameter = 0;  // persistent: tiles per CTA

// Bodies of the roles.
std::vector<traces::Node> load_body(const isa::Architecture& architecture, const BlackwellPlan& plan);
std::vector<traces::Node> multiply_body(const isa::Architecture& architecture, const BlackwellPlan& plan);
std::vector<traces::Node> epilogue_body(const isa::Architecture& architecture, const BlackwellPlan& plan);
std::vector<traces::Node> idle_body(const isa::Architecture& architecture, const BlackwellPlan& plan);

}  // namespace warpfold::workloads
