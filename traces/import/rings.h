#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/import/explore.h"
#include "traces/kernel.h"

namespace warpfold::sass {

// Groups the mbarriers that warps use into rings: mbarriers that the same instructions use in turn are the stages of a
// ring, in order of their addresses. Sets ring, cursor and advance of every effect, and rolls up loops whose passes
// differed only in their stage. Each warp has one cursor per ring and use (wait, arrive, fill).
//
// A wait names its phase by parity. It is for the next phase of that parity after the warp's last wait, as in PTX, or
// if warps take turns for the phase that turns.h finds. Fails for mbarriers that no instruction initialises, for
// arrivals of different numbers of lanes, and for stages without a fixed order.
Expected<void> find_rings(const std::string& file, const std::vector<Op>& ops, Exploration& found, traces::Kernel& kernel);

}  // namespace warpfold::sass
