#pragma once

#include <memory>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/runner.h"

namespace warpfold::cli {

// A scenario that is simulated several times with different settings.
struct VariedScenario {
  std::string file;
  std::vector<std::string> settings;  // of all variants
  std::string command_line;
};

Expected<Planned> plan_variant(const VariedScenario& scenario, const std::vector<std::string>& extra);
// Simulates the scenario with the settings `extra`, exactly as `warpfold simulate` does with these settings. Variants may share the
// runs in `known`.
Outcome<configs::Result> simulate_variant(const VariedScenario& scenario, const std::vector<std::string>& extra,
                                          const RunOptions& how,
                                          std::shared_ptr<sim::RunCache> known = std::make_shared<sim::RunCache>());

// Returns whether the variant itself failed, rather than the program or the reading of a file.
bool is_of_the_variant(const Failure& failure);
// Returns the first line of a failure of a variant, without its position or setting.
std::string why_not_run(const Failure& failure);

}  // namespace warpfold::cli
