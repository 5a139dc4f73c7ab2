#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/variant_runs.h"

namespace warpfold::cli {

// What `warpfold occupancy` is asked.
struct OccupancyQuestion {
  VariedScenario scenario;
  uint32_t steps = 2;  // how many CTAs an SM more than now are tried, one at a time
};

// The scenario's result with its `occupancy` filled in: of each kernel what bounds its CTAs on an SM, and of each of the next
// `steps` counts the largest footprint that lets so many in, simulated.
Outcome<configs::Result> ask_occupancy(const OccupancyQuestion& question, const RunOptions& how);

}  // namespace warpfold::cli
