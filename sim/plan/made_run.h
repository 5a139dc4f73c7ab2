#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "sim/plan/options.h"
#include "sim/plan/outcome.h"
#include "sim/sm/kernel_image.h"
#include "sim/sm/spec.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;

// What one simulation is given.
struct RunInputs {
  std::vector<Launch> launches;
  std::vector<KernelImage> images;  // [launch]
  Options options;
};

// A simulation and how it was made. The kernels of the launches, and the run cache of the options, belong to the caller of
// simulate() and outlive this.
struct MadeRun {
  Spec spec;
  RunInputs inputs;
  bool until_idle = false;  // no further than to where all that had been released had ended and every SM was pristine
  std::shared_ptr<const Outcome> outcome;

  // Warp instructions that a replay issues, at most: SM classes that were represented by others have about as many.
  uint64_t instructions_of_replay() const;
};

}  // namespace warpfold::sim
