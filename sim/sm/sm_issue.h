// Instructions without a fixed latency: their conditions for issue and their effects.
#pragma once

#include "sim/account/states.h"
#include "sim/engine/time.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// True if the condition of the warp's next instruction holds, besides its timer and dependence counters. Otherwise sets
// `reason` to the state in which the warp waits.
bool may_execute(const Sm& sm, const Warp& warp, WarpState& reason);
void execute(Sm& sm, Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now);

}  // namespace warpfold::sim
