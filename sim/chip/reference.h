#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"
#include "sim/sm/spec.h"
#include "traces/launch.h"

namespace warpfold::sim {

// When a launch ran, over all SMs, and what it did.
struct ReferenceLaunch {
  Cycle start = 0;  // of its first CTA
  Cycle end = 0;    // of its last one
  uint64_t instructions = 0;
  uint64_t resident_warp_cycles = 0;

  bool operator==(const ReferenceLaunch&) const = default;
};

// The whole chip the plain way, to hold GpuRun against: every SM, all from cycle to cycle together, in order of their index. No SM
// stands for another one, nothing is skipped, nothing is estimated. It has the SM, L2 and DRAM of GpuRun, and a work distributor
// and an order of launches of its own.
//
// One entry for each launch. `launches` are those that simulate() takes without an error; `serialise` as in Options. Throws
// Interrupted where the process is told to stop.
std::vector<ReferenceLaunch> reference(const Spec& spec, const std::vector<traces::Launch>& launches, bool serialise = false);

}  // namespace warpfold::sim
