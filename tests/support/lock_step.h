#pragma once

#include <cstdint>
#include <vector>

#include "configs/gpu.pb.h"
#include "sim/gpu/simulate.h"

namespace warpfold::test {

// When one launch ran on one SM and what it did there.
struct LockStepLaunch {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t instructions = 0;
  uint64_t resident_warp_cycles = 0;

  bool operator==(const LockStepLaunch&) const = default;
};

// The whole chip the plain way, to hold the fast one against: all SMs go from cycle to cycle together, in order of their index.
// One entry for each launch, over all SMs: first start, last end, sums of the rest. Independent of GpuRun.
std::vector<LockStepLaunch> lock_step(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, bool serialise = false);

}  // namespace warpfold::test
