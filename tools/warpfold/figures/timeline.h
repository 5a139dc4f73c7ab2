#pragma once

#include "configs/result.pb.h"
#include "sim/account/timeline.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// Returns the timeline of a simulation of `plan` in the form of a result.
configs::Timeline make_timeline(const policies::Plan& plan, const sim::Timeline& timeline);

}  // namespace warpfold::cli
