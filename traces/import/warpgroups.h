#pragma once

#include <vector>

#include "traces/import/explore.h"

namespace warpfold::sass {

// The four warps of a warpgroup that multiplies by wgmma run one program. Where they go the same way but for arrivals that a guard
// keeps to some of them, and what computes for those alone, all four issue them: the lanes of some count as a share of each.
//
//   @P0 SYNCS.ARRIVE, P0 in one lane of warps 0 and 1     ->     an arrival of each warp, of 2 lanes from 4 warps
void unite_warpgroups(const std::vector<Op>& ops, Exploration& found);

}  // namespace warpfold::sass
