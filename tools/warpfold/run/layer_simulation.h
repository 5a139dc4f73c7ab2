#pragma once

#include <vector>

#include "configs/scenario.pb.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

// The kernels of a scenario on the layer's GPU, each as it ran; one with `why_not` alone where no simulation can be made.
Outcome<std::vector<SimulatedLaunch>> simulate_scenario(configs::Scenario scenario, const LayerRequest& request);

// A kernel by itself.
Outcome<SimulatedLaunch> simulate_launch(const configs::Kernel& workload, const LayerRequest& request);

// The fastest of several kernels that do the same, and which it was; those whose bounds say that they cannot be it are not
// simulated.
Outcome<SimulatedLaunch> simulate_fastest(const std::vector<configs::Kernel>& choices, const LayerRequest& request, size_t& chosen);

// Several kernels one behind the other.
SimulatedLaunch in_sequence(const std::vector<SimulatedLaunch>& launches);

}  // namespace warpfold::cli
