#pragma once

#include <vector>

#include "sim/account/segment.h"
#include "sim/sm/program.h"
#include "traces/kernel.h"

namespace warpfold::sim {

// Parts the code of a kernel (its roles' programs, in order) into segments and notes in every instruction the one it belongs to.
// Returns them in the order of the code; only those that hold an instruction.
std::vector<Segment> assign_segments(const traces::Kernel& kernel, std::vector<Program>& programs, AccountGranularity granularity);

}  // namespace warpfold::sim
