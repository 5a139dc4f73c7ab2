#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "traces/import/op.h"
#include "traces/import/path.h"

namespace warpfold::sass {

// Of each wait that a warp executes at an mbarrier, in order: the phases that are complete when it goes on.
using Turns = std::map<int32_t, std::vector<uint64_t>>;

// The turns of each warp of a CTA, whose warps go these paths; `arrivals` complete a phase of each mbarrier. Mbarriers and named
// barriers alone are executed, warp by warp as far as each one comes; bulk copies arrive at once.
//
// A wait names the parity of a phase, not the phase. A warp that waits for every phase, or every second one, needs no more. Of
// warps that take turns at a ring, as in ping-pong schedules, each leaves out the phases of the others: which they are follows from
// what holds the warp before it waits. Empty where every warp's waits are as many as the phases, or where the warps hold each other
// up for ever, which the simulation reports.
std::vector<Turns> turns_of(const std::vector<Op>& ops, const std::map<int32_t, uint32_t>& arrivals,
                            const std::vector<const Path*>& warps);

}  // namespace warpfold::sass
