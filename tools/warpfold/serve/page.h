#pragma once

#include <string>

#include "tools/warpfold/serve/question.h"

namespace warpfold::serve {

// Returns the page, one HTML document with style, script, the schema of scenarios with its comments, the names that questions may
// use, and the first scenario. `nonce` marks its scripts, the only scripts that the browser may run.
std::string page(const Names& names, const std::string& scenario, const std::string& nonce);

// Returns the Content-Security-Policy of the page: the browser runs only scripts with this nonce, and the page sends requests only
// to this server.
std::string content_policy(const std::string& nonce);

}  // namespace warpfold::serve
