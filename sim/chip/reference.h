#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"
#include "sim/sm/spec.h"
#include "traces/launch.h"

namespace warpfold::sim {

// Time and work of a launch over all SMs.
struct ReferenceLaunch {
  Cycle start = 0;  // start of the first CTA
  Cycle end = 0;    // end of the last CTA
  uint64_t instructions = 0;
  uint64_t resident_warp_cycles = 0;

  bool operator==(const ReferenceLaunch&) const = default;
};

// Simulates the whole chip without acceleration, as the reference for GpuRun. All SMs run cycle by cycle together, in
// order of their index. No SM represents another, and nothing is skipped or estimated. The reference uses the SM, L2
// and DRAM models of GpuRun, but has its own work distributor and launch order.
//
// Returns one entry per launch. `launches` must be launches that simulate() accepts without an error; `serialise` as in
// Options. Throws Interrupted if the process is told to stop.
std::vector<ReferenceLaunch> reference(const Spec& spec, const std::vector<traces::Launch>& launches, bool serialise = false);

}  // namespace warpfold::sim
