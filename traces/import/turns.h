#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/import/op.h"
#include "traces/import/path.h"

namespace warpfold::sass {

// For each mbarrier: the phases that are complete when a warp passes its waits, in the order of the waits.
using Turns = std::map<int32_t, std::vector<uint64_t>>;

// Returns the turns of each warp of a CTA. `warps`: their paths; `arrivals`: arrivals that complete a phase of each
// mbarrier. Only mbarriers and named barriers are executed, each warp as far as it can go in turn; bulk copies complete
// at once.
//
// A wait names the parity of a phase, not the phase. That suffices for a warp that waits for every phase, or for every
// second one. Warps that take turns at a ring, as in ping-pong schedules, skip each other's phases, and the events that
// hold a warp before its wait determine which phases. Returns an empty list if every warp waits as often as there are
// phases, or if the warps deadlock, which the simulation reports.
std::vector<Turns> turns_of(const std::vector<Op>& ops, const std::map<int32_t, uint32_t>& arrivals,
                            const std::vector<const Path*>& warps);

}  // namespace warpfold::sass
