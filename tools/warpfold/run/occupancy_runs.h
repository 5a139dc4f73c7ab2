#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/variant_runs.h"

namespace warpfold::cli {

// A question to `warpfold occupancy`.
struct OccupancyQuestion {
  VariedScenario scenario;
  uint32_t steps = 2;  // number of larger counts of CTAs per SM to try, in steps of one
};

// Returns the scenario's result with `occupancy` filled in: the limits on each kernel's CTAs per SM. For each of the next `steps`
// counts of CTAs, the largest footprint that allows the count is simulated.
Outcome<configs::Result> ask_occupancy(const OccupancyQuestion& question, const RunOptions& how);

}  // namespace warpfold::cli
