#pragma once

#include <cstddef>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// Fills `result.slowdown`: the causes that make kernel `index` of the plan slower beside other kernels (`together`) than alone
// (`alone`).
void fill_slowdown(const policies::Plan& plan, size_t index, const sim::KernelCounters& together, const sim::KernelCounters& alone,
                   configs::KernelResult& result);

}  // namespace warpfold::cli
