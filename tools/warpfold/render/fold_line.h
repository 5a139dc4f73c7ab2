#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"

namespace warpfold::cli {

// Returns one line that says how the result was computed and how large its error may be.
std::string fold_line(const configs::Result& result);
// Returns a line for each simulation that --self-check or --reference repeated.
std::vector<std::string> check_lines(const configs::Result& result);

}  // namespace warpfold::cli
