#pragma once

#include <vector>

#include "configs/scenario.pb.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::cli {

// Simulates the kernels of a scenario on the layer's GPU; returns a launch for each. If they cannot be simulated, returns one
// launch with only `reason_not_simulated`.
Outcome<std::vector<SimulatedLaunch>> simulate_scenario(configs::Scenario scenario, const LayerRequest& request);

// Simulates a kernel alone.
Outcome<SimulatedLaunch> simulate_launch(const configs::Kernel& workload, const LayerRequest& request);

// Simulates alternatives for the same work and returns the fastest, with its index in `chosen`. Alternatives whose lower bounds
// rule them out are not simulated.
Outcome<SimulatedLaunch> simulate_fastest(const std::vector<configs::Kernel>& choices, const LayerRequest& request, size_t& chosen);

// Returns the sum of several kernels that run in sequence.
SimulatedLaunch in_sequence(const std::vector<SimulatedLaunch>& launches);

}  // namespace warpfold::cli
