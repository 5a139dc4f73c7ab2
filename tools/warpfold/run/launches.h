#pragma once

#include <vector>

#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// A plan's kernels as the machine takes them. The launches point into `plan`.
std::vector<sim::Launch> make_launches(const policies::Plan& plan);

// The scenario's GPU with the time between launches that its kind of launch has.
configs::Gpu gpu_of(const configs::Scenario& scenario);

// One of them by itself, on the SMs that it may run on.
sim::Launch launch_alone(const policies::PlannedKernel& kernel);

}  // namespace warpfold::cli
