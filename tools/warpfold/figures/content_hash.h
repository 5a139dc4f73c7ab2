#pragma once

#include <string>

#include "traces/kernel.h"

namespace warpfold::cli {

// xxh64 of the kernel's text form, 16 hexadecimal digits: what a result was computed from, whatever file it came from. Footprints
// of streams are no part of it: a run does not depend on them.
std::string kernel_hash(const traces::Kernel& kernel);
// xxh64 of anything, 16 hexadecimal digits.
std::string content_hash(const std::string& bytes);

}  // namespace warpfold::cli
