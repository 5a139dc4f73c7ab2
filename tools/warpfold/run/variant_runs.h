#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// A scenario that is simulated again and again with something set differently.
struct VariedScenario {
  std::string file;
  std::vector<std::string> settings;  // of all variants
  std::string command_line;
};

Expected<Planned> plan_variant(const VariedScenario& scenario, const std::vector<std::string>& extra);
// The scenario with `extra` set, as `warpfold simulate` with these settings simulates it. Variants may share the runs in `known`.
Outcome<configs::Result> simulate_variant(const VariedScenario& scenario, const std::vector<std::string>& extra,
                                          const RunOptions& how,
                                          std::shared_ptr<sim::RunCache> known = std::make_shared<sim::RunCache>());

// Nothing else failed: neither the program, nor a file that can no longer be read.
bool is_of_the_variant(const Failure& failure);
// The first line of a failure, without the place or the setting that it was found at: the variant is at fault.
std::string why_not_run(const Failure& failure);

}  // namespace warpfold::cli
