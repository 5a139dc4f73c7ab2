#pragma once

#include <string>

#include "configs/diagnostic.h"

namespace warpfold {

// A whole file of at most 64 MiB, which may be a pipe. The diagnostic names the path in its message and no place: a caller that
// knows which file names it adds that.
Expected<std::string> read_file(const std::string& path);

}  // namespace warpfold
