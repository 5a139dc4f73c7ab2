#pragma once

#include <string>
#include <vector>

#include "configs/scenario.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// "CARVE_OUT", as configs call it, and "Carve_Out" are "carve_out" on the command line.
std::string policy_option_name(std::string name);

// What `option` asks for by name, upper or lower case; `besides`: other words that the option takes.
Outcome<configs::PolicyKind> policy_by_name(const std::string& option, const std::string& name,
                                            const std::vector<std::string>& besides = {});

// What --policies lists, with commas between the names; each once. `takes_all`: "all" alone is every policy.
Outcome<std::vector<configs::PolicyKind>> policies_in(const std::string& list, bool takes_all);

// --policy NAME, for commands that run a scenario under one policy.
void add_policy_option(Options& options);
// The settings of the request, with the policy that --policy names.
Outcome<std::vector<std::string>> settings_with_policy(const Options& options, std::vector<std::string> settings);

}  // namespace warpfold::cli
