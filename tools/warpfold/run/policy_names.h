#pragma once

#include <string>
#include <vector>

#include "configs/scenario.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// Returns a policy's name on the command line: "carve_out" for "CARVE_OUT", as configs call it, and for "Carve_Out".
std::string policy_option_name(std::string name);

// Returns the policy that `option` names, in upper or lower case. `besides`: other words that the option takes, for the message.
Outcome<configs::PolicyKind> policy_by_name(const std::string& option, const std::string& name,
                                            const std::vector<std::string>& besides = {});

// Returns the policies of a --policies list, whose names commas separate; each once. `takes_all`: "all" alone means every policy.
Outcome<std::vector<configs::PolicyKind>> policies_in(const std::string& list, bool takes_all);

// Adds --policy NAME, for commands that run a scenario under one policy.
void add_policy_option(Options& options);

}  // namespace warpfold::cli
