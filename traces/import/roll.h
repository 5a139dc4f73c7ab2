#pragma once

#include "isa/architecture.h"
#include "traces/import/explore.h"
#include "traces/kernel.h"

namespace warpfold::sass {

// Sets programs, roles, CTA classes and grid of `kernel` from the exploration. Adjacent warps with equal paths in every
// CTA class form a role. A loop whose number of passes differs by class takes its trips from a parameter. So does code
// that only some classes reach, with 1 or 0 trips.
void roll(const Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch, const isa::Architecture& architecture,
          bool has_control, traces::Kernel& kernel);

}  // namespace warpfold::sass
