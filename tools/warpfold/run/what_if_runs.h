#pragma once

#include <string>
#include <vector>

#include "configs/resources.h"
#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/runner.h"
#include "tools/warpfold/run/variant_runs.h"

namespace warpfold::cli {

// A question to `warpfold whatif`.
struct WhatIfQuestion {
  VariedScenario scenario;
  std::vector<const configs::ScalableResource*> resources;
  double factor = 2;
};

// Returns the scenario's result with what_if filled in. Every resource gets two machines: one with `factor` times as much, and one
// with 1 / `factor` as much. A latency becomes shorter or longer by the same factor. Each is simulated as `warpfold simulate` does
// with the variation's settings. A machine that the scenario cannot run on has a reason; a scenario that cannot run at all is a
// failure.
Outcome<configs::Result> ask_what_if(const WhatIfQuestion& question, const RunOptions& how);

}  // namespace warpfold::cli
