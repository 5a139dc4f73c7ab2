// mbarriers of rings, in shared memory, and named barriers. State: Cta::rings, Cta::barriers.
#pragma once

#include <cstdint>

#include "sim/account/delay.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/event.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

void handle(Sm& sm, const BarrierEvent& event, Cycle now);
bool is_live(const Sm& sm, const BarrierEvent& event);
EventKey key_of(const Sm& sm, const BarrierEvent& event);

// Returns the mbarrier for which the warp waits. Sets `phases`: how many of its phases must have completed.
const Mbarrier& awaited_mbarrier(const Sm& sm, const Warp& warp, const MicroOp& op, uint64_t& phases);
// The warp arrives at a named barrier; if `op` is a BAR.SYNC, it also waits there.
void arrive_at_barrier(Sm& sm, Warp& warp, const MicroOp& op, Cycle now);
// Checks the conditions of the CTA's blocked warps again, after a change for which they may wait.
void reconsider_cta(Sm& sm, int cta, Delay delay, Cycle now);

// Returns the step of the ring's cursors from which state keys count its stages (docs/folding_proof.md, "Rings").
uint64_t ring_origin(const Sm& sm, const Cta& cta, int ring);
// Returns the stage counted from the ring's origin.
RingStage stage_from_origin(const Sm& sm, int cta, int ring, RingStage stage);
// Visits the CTA's mbarriers and named barriers. A key counts a named barrier's phases from the phase that warps wait
// for.
void visit_barriers(Sm& sm, int cta_index, StateVisitor& visitor);

}  // namespace warpfold::sim
