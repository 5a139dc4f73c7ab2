#pragma once

#include <string>
#include <vector>

#include "configs/resources.h"
#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/run/variant_runs.h"

namespace warpfold::cli {

// What `warpfold whatif` is asked.
struct WhatIfQuestion {
  VariedScenario scenario;
  std::vector<const configs::ScalableResource*> resources;
  double factor = 2;
};

// The scenario's result with its what_if filled in: for every resource a machine that has `factor` times as much and one that has
// as much less (latencies: as short, as long), each simulated as `warpfold simulate` with the variation's settings simulates it. A
// machine that the scenario cannot run on says why; a scenario that cannot run at all is a failure.
Outcome<configs::Result> ask_what_if(const WhatIfQuestion& question, const RunOptions& how);

}  // namespace warpfold::cli
