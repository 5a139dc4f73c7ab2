#pragma once

#include <vector>

#include "sim/account/segment.h"
#include "sim/sm/program.h"
#include "traces/kernel.h"

namespace warpfold::sim {

// Splits the code of a kernel (its roles' programs, in order) into segments and sets MicroOp::segment. Returns the
// segments in the order of the code; each holds at least one instruction.
std::vector<Segment> assign_segments(const traces::Kernel& kernel, std::vector<Program>& programs, AccountGranularity granularity);

}  // namespace warpfold::sim
