#pragma once

#include <vector>

#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// A plan's kernels as the machine takes them. The launches point into `plan`.
std::vector<sim::Launch> make_launches(const policies::Plan& plan);

// One of them by itself, on the SMs that it may run on.
sim::Launch launch_alone(const policies::PlannedKernel& kernel);

}  // namespace warpfold::cli
