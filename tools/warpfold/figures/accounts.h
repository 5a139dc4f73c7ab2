#pragma once

#include <cstddef>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// The account of kernel `index` of the plan by role and phase, and by instruction where it was counted so.
void fill_accounts(const policies::Plan& plan, size_t index, const sim::KernelCounters& counters, configs::KernelResult& result);

}  // namespace warpfold::cli
