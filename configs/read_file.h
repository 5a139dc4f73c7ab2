#pragma once

#include <string>

#include "configs/diagnostic.h"

namespace warpfold {

// A whole file. The diagnostic names the path in its message and no place: callers that know who asked for it add that.
Expected<std::string> read_file(const std::string& path);

}  // namespace warpfold
