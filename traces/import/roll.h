#pragma once

#include "isa/architecture.h"
#include "traces/import/explore.h"
#include "traces/kernel.h"

namespace warpfold::sass {

// Programs, roles, CTA classes and grid of `kernel` from what was followed. Warps next to each other that go the same way in every
// class of CTAs are one role. A loop that goes round more often in some classes than in others takes its trips from a parameter; so
// does code that only some classes reach, 1 or 0 times.
void roll(const Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch, const isa::Architecture& architecture,
          bool has_control, traces::Kernel& kernel);

}  // namespace warpfold::sass
