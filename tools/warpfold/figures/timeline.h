#pragma once

#include "configs/result.pb.h"
#include "sim/account/timeline.h"
#include "workloads/policies/policy.h"

namespace warpfold::cli {

// The timeline of a simulation of `plan` as results say it.
configs::Timeline make_timeline(const policies::Plan& plan, const sim::Timeline& timeline);

}  // namespace warpfold::cli
