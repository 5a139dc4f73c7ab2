#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/run/options.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// A request to a command that simulates a scenario: warpfold COMMAND SCENARIO [--set ...] [--fold ...] [--format ...].
struct Request {
  workloads::KernelMaker kernels;  // for SCENARIO, the file
  std::vector<std::string> settings;
  std::string command_line;
  RunOptions how;
  Destination destination;

  Outcome<configs::Scenario> scenario(configs::Places* places = nullptr) const;
  Outcome<Planned> plan();  // under the policy that the scenario names
  Outcome<configs::Result> simulate();
};

// Adds SCENARIO, its settings, and the options of simulations. The command adds its own options and the output's.
void add_request(Options& options);
// Reads the request, with the policy that --policy names if the command has that option.
Outcome<Request> read_request(Options& options, const Invocation& invocation);

}  // namespace warpfold::cli
