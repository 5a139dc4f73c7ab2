#pragma once

#include <string>

#include "traces/kernel.h"

namespace warpfold::cli {

// Returns the xxh64 of the kernel's text form, as 16 hexadecimal digits. Equal kernels have the same hash, whatever file they came
// from. The footprints of streams do not enter, since a run does not depend on them.
std::string kernel_hash(const traces::Kernel& kernel);
// Returns the xxh64 of any bytes, as 16 hexadecimal digits.
std::string content_hash(const std::string& bytes);

}  // namespace warpfold::cli
