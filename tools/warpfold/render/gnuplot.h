#pragma once

#include <string>

#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Runs gnuplot in `folder` on the script of this text and writes what it draws to `picture`, as write_output does. The script names
// its picture by `set output`, so that it can be run again by hand. False: gnuplot is not there.
Outcome<bool> draw(const std::string& folder, const std::string& script, const std::string& picture);

}  // namespace warpfold::cli
