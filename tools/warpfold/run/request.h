#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/warpfold/run/options.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// A request to a command that simulates a scenario: warpfold COMMAND SCENARIO [--set ...] [--fold ...] [--format ...].
struct Request {
  workloads::KernelMaker kernels;  // for SCENARIO, the file
  std::vector<std::string> settings;
  RunOptions how;
  Destination destination;

  Outcome<configs::Scenario> scenario(configs::Places* places = nullptr) const;
  Outcome<Planned> plan();  // under the policy that the scenario names
};

// Adds SCENARIO, its settings, and the options of simulations. The command adds its own options and the output's.
void add_request(Options& options);
// Returns none if the user asked for help, which has then been written.
Outcome<std::optional<Request>> read_request(Options& options, const Invocation& invocation);

}  // namespace warpfold::cli
