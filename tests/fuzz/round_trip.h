#pragma once

#include <vector>

#include "tests/fuzz/input.h"
#include "traces/kernel.h"

namespace warpfold::fuzz {

// The kernels come back from their text and, where they are of one architecture, from a file, and both say the same again.
void require_round_trip(const std::vector<traces::Kernel>& kernels);

}  // namespace warpfold::fuzz
