#pragma once

#include <vector>

#include "configs/scenario.pb.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

// The kernels of a scenario on the layer's GPU, each as it ran; one with `why_not` alone where no simulation can be made.
Outcome<std::vector<SimulatedLaunch>> simulate_scenario(configs::Scenario scenario, const LayerRequest& request);

// A kernel by itself.
Outcome<SimulatedLaunch> simulate_launch(const configs::Kernel& workload, const LayerRequest& request);

// Several kernels one behind the other.
SimulatedLaunch in_sequence(const std::vector<SimulatedLaunch>& launches);

}  // namespace warpfold::cli
