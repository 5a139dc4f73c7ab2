#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/run/options.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// What a command that simulates a scenario is asked: warpfold COMMAND SCENARIO [--set ...] [--fold ...] [--format ...].
struct Request {
  workloads::KernelMaker kernels;  // for SCENARIO, the file
  std::vector<std::string> settings;
  RunOptions how;
  Destination destination;

  Outcome<configs::Scenario> scenario(configs::Places* places = nullptr) const;
  Outcome<Planned> plan();  // under the policy that the scenario names
};

// SCENARIO, what is set in it, and how it is simulated. The command adds its own options and where the output goes.
void add_request(Options& options);
// None: help was wanted, and has been written.
Outcome<std::optional<Request>> read_request(Options& options, const Invocation& invocation);

}  // namespace warpfold::cli
