#pragma once

#include <cstddef>

#include "configs/result.pb.h"
#include "sim/gpu/simulate.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// Adds to `result` the account of kernel `index` of the plan by role and phase; also by instruction if the run counted
// instructions.
void fill_accounts(const policies::Plan& plan, size_t index, const sim::KernelCounters& counters, configs::KernelResult& result);

}  // namespace warpfold::cli
