#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "traces/import/explore.h"
#include "traces/kernel.h"

namespace warpfold::sass {

// Makes rings of the mbarriers that warps use: those that the same instructions use in turn are the stages of one ring, in the
// order of their addresses. Fills in ring, cursor and advance of every effect, and rolls loops up whose passes differed by their
// stage alone. Each warp has one cursor for each ring and way to use it (wait, arrive, fill). A wait names its phase by parity: it
// is the next phase of that parity from the warp's last wait on, as PTX has it, or where warps take turns the one that turns.h
// finds. Fails at mbarriers that no instruction initialises, arrivals of different numbers of lanes, and stages that are passed in
// no fixed order.
Expected<void> find_rings(const std::string& file, const std::vector<Op>& ops, Exploration& found, traces::Kernel& kernel);

}  // namespace warpfold::sass
