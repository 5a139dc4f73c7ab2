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

// Inputs of one simulation.
struct RunInputs {
  std::vector<Launch> launches;
  std::vector<KernelImage> images;  // [launch]
  Options options;
};

// A simulation with its inputs, so that it can be repeated. The kernels of the launches and the run cache of the
// options belong to the caller of simulate() and must outlive this object.
struct MadeRun {
  Spec spec;
  RunInputs inputs;
  bool until_idle = false;  // stopped once all released launches had ended and every SM was pristine
  std::shared_ptr<const Outcome> outcome;

  // Returns about how many warp instructions a replay issues. SM classes outside a sample of SMs are taken to issue as
  // many as those in it.
  uint64_t instructions_of_replay() const;
};

}  // namespace warpfold::sim
