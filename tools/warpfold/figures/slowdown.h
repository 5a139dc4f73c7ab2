#pragma once

#include <cstddef>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// What makes kernel `index` of the plan slower beside the others (`together`) than it is alone (`alone`), by cause.
void fill_slowdown(const policies::Plan& plan, size_t index, const sim::KernelCounters& together, const sim::KernelCounters& alone,
                   configs::KernelResult& result);

}  // namespace warpfold::cli
