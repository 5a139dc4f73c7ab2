#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

double utilization(const sim::ResourceUse& use);  // busy / capacity; 0 for a resource that the GPU lacks

// A simulation's counters as the result that users get; everything but what the kernels do alone and how the program was called.
configs::Result make_result(const configs::Scenario& scenario, const policies::Plan& plan, const sim::Outcome& outcome);

// Resident warps an SM while a kernel runs, from first CTA to last.
double average_warps(const configs::Gpu& gpu, const sim::KernelCounters& counters);

}  // namespace warpfold::cli
