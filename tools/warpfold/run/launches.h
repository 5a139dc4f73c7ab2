#pragma once

#include <vector>

#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// Returns a plan's kernels as launches of the machine. The launches point into `plan`.
std::vector<sim::Launch> make_launches(const policies::Plan& plan);

// Returns the scenario's GPU with the time between launches that belongs to its kind of launch.
configs::Gpu gpu_of(const configs::Scenario& scenario);
// Returns the GPU that runs the plan: also with the issue policy that the plan asks for.
configs::Gpu gpu_of(const configs::Scenario& scenario, const policies::Plan& plan);

// Returns the launch of one kernel alone, on the SMs that it may use.
sim::Launch launch_alone(const policies::PlannedKernel& kernel);

}  // namespace warpfold::cli
