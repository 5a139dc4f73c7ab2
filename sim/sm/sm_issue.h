// Instructions other than fixed-latency ones: what a warp must wait for before they issue, and what they do then.
#pragma once

#include "sim/account/states.h"
#include "sim/engine/time.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// The condition of the warp's next instruction, beside its timer and dependence counters; `reason`: its state where it does not
// hold.
bool condition_holds(const Sm& sm, const Warp& warp, WarpState& reason);
void execute(Sm& sm, Warp& warp, const MicroOp& op, int sub_core, int slot, Cycle now);

}  // namespace warpfold::sim
