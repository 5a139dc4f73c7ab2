#pragma once

#include <string>

#include "configs/diagnostic.h"

namespace warpfold {

// A whole file. The diagnostic names the path in its message and no place: a caller that knows the field of the path adds it.
Expected<std::string> read_file(const std::string& path);

}  // namespace warpfold
