#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

double utilization(const sim::ResourceUse& use);  // busy / capacity; 0 for a resource that the GPU lacks

// Returns a simulation's counters as the result that users get, without the kernels' times alone and without the command line.
configs::Result make_result(const configs::Scenario& scenario, const policies::Plan& plan, const sim::Outcome& outcome);

// Returns the resident warps on each of the kernel's `sms` SMs while it runs, from the start of its first CTA to the end of its last.
double average_warps(uint32_t sms, const sim::KernelCounters& counters);

}  // namespace warpfold::cli
