#pragma once

#include <string>

#include "tools/warpfold/serve/question.h"

namespace warpfold::serve {

// The page: one HTML document with its style, its script, the schema of scenarios with the schema's comments, the names that it may
// ask for, and the scenario that it begins with. `nonce` marks its scripts, the only ones that the browser is to run.
std::string page(const Names& names, const std::string& scenario, const std::string& nonce);

// The Content-Security-Policy of the page: the browser runs scripts with this nonce alone, and the page asks this server alone.
std::string content_policy(const std::string& nonce);

}  // namespace warpfold::serve
