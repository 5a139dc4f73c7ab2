#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// Runs the command called `name`, or says what there is (--help, --version).
Outcome<void> dispatch(const std::string& name, Invocation invocation);

// What `warpfold WORDS...` would write to standard output; several threads may ask at a time. Files that it names are written.
Outcome<std::string> answer(const std::vector<std::string>& words);

}  // namespace warpfold::cli
