#pragma once

#include <vector>

#include "configs/scenario.pb.h"
#include "sim/gpu/simulate.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// How a scenario's policy launches its kernels: order, priorities, dependences and, for CARVE_OUT, what each SM keeps for whom.
// The launches point into `kernels`.
Outcome<std::vector<sim::Launch>> make_launches(const configs::Scenario& scenario, const std::vector<traces::Kernel>& kernels);

}  // namespace warpfold::cli
