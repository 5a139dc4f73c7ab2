#pragma once

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Runs gnuplot in `folder` on `script`, so that the script can be run again by hand. False: gnuplot is not there.
Outcome<bool> draw(const std::string& folder, const std::string& script);

}  // namespace warpfold::cli
