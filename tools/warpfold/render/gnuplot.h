#pragma once

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Runs gnuplot in `folder` on this script and writes the drawing to `picture`, as write_output does. The script keeps its `set
// output`, so that users can run it by hand. Returns false if gnuplot is not installed.
Outcome<bool> draw(const std::string& folder, const std::string& script, const std::string& picture);

}  // namespace warpfold::cli
