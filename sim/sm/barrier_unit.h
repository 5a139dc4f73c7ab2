// Barriers in shared memory, the mbarriers of rings, and named barriers. State: Cta::rings, Cta::barriers.
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

// The mbarrier that a warp's wait looks at, and how many of its phases must have completed.
const Mbarrier& awaited_mbarrier(const Sm& sm, const Warp& warp, const MicroOp& op, uint64_t& phases);
// A warp arrives at a named barrier, to wait there or not.
void arrive_at_barrier(Sm& sm, Warp& warp, const MicroOp& op, Cycle now);
// Something that blocked warps of the CTA may wait for has changed.
void reconsider_cta(Sm& sm, int cta, Delay delay, Cycle now);

// Where the stages of a ring are counted from, in steps of its cursors (docs/folding_proof.md, "Rings").
uint64_t ring_origin(const Sm& sm, const Cta& cta, int ring);
// A stage of a ring as many behind the first as it is behind the origin.
RingStage stage_from_origin(const Sm& sm, int cta, int ring, RingStage stage);
// Mbarriers and named barriers of a CTA; named barriers' phases count from where the waiting warps stand.
void visit_barriers(Sm& sm, int cta_index, StateVisitor& visitor);

}  // namespace warpfold::sim
