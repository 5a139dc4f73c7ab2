#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/run/options.h"

namespace warpfold::cli {

// Runs the command called `name`, or prints the program's help or version (--help, --version).
Outcome<void> dispatch(const std::string& name, Invocation invocation);

// Returns the text that `warpfold WORDS...` would write to standard output. Files that the command names are written. May be called
// from several threads at a time.
Outcome<std::string> answer(const std::vector<std::string>& words);

}  // namespace warpfold::cli
