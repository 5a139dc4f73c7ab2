#pragma once

#include <string>
#include <vector>

#include "configs/resources.h"
#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// What `warpfold whatif` is asked.
struct WhatIfQuestion {
  std::string file;
  std::vector<std::string> settings;  // of the machine that is varied
  std::vector<const configs::ScalableResource*> resources;
  double factor = 2;
  std::string command_line;
};

// The scenario's result with its what_if filled in: for every resource a machine that has `factor` times as much and one that has
// as much less (latencies: as short, as long), each simulated as `warpfold simulate` with the variation's settings simulates it. A
// machine that the scenario cannot run on says why; a scenario that cannot run at all is a failure.
Outcome<configs::Result> ask_what_if(const WhatIfQuestion& question, const RunOptions& how);

}  // namespace warpfold::cli
