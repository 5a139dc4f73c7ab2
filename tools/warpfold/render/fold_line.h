#pragma once

#include <string>
#include <vector>

#include "configs/result.pb.h"

namespace warpfold::cli {

// One line for people: how the result came about and how far it may be off.
std::string fold_line(const configs::Result& result);
// A line each of what --self-check and --reference have simulated again.
std::vector<std::string> check_lines(const configs::Result& result);

}  // namespace warpfold::cli
