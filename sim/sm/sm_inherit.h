// Delays that other launches cause to warps, and that warps pass to the warps that wait for them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/account/delay.h"
#include "sim/account/states.h"
#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_state.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Adds `cycles` to the warp's delay. `history`: Delay::all or Delay::others.
inline void delay_warp(SmState& state, Warp& warp, uint64_t Delay::*history, Cycle cycles) {
  uint64_t& furthest = state.ctas[warp.cta].most_delay.*history;
  uint64_t& delay = warp.delay.*history;
  delay = within(delay, furthest) + cycles;
  furthest = std::max(furthest, delay);
}
// Delays an operation that a CTA of the launch has started and whose delay so far is `delay`. State keys hold a lag
// behind the CTA's most delayed warp up to kMostApart; a lag beyond that is dropped first.
inline void hold_up(const SmState& state, Delay& delay, int launch, int cta, uint64_t cta_serial, Delay by) {
  if (state.coupled(launch) && state.cta_lives(cta, cta_serial)) delay = within(delay, state.ctas[cta].most_delay);
  delay = delay + by;
}
// Passes on a delay: the warp has waited `waited` cycles, until now, for a warp or request that is late by `delay`.
void inherit(Sm& sm, Warp& warp, Delay delay, Cycle waited);
// Records that the warp did not have to wait for `before`. Without contention it might have waited as well, in state
// `waiting`.
void pass(Sm& sm, Warp& warp, const Arrival& before, WarpState waiting, Cycle now);
// True if the arrival is recent enough for its delay to matter.
bool remembered(const Sm& sm, const Arrival& arrival, Cycle now);
// Joins an arrival at `now`, with `delay`, to the arrivals so far.
void join(const Sm& sm, Arrival& arrival, int cta, Delay delay, Cycle now);
// Returns by how many cycles the joined arrivals would have come before `now` without contention.
Delay joined(const Sm& sm, const Arrival& arrival, int cta, Cycle now);

void visit_arrival(const Sm& sm, const char* name, int cta, Arrival& arrival, StateVisitor& visitor);
// Visits the delay of a warp or request of a CTA: a key holds how far it is behind the CTA's largest.
void visit_delay(const Sm& sm, const char* name, int launch, int cta, uint64_t cta_serial, Delay delay, StateVisitor& visitor);

}  // namespace warpfold::sim
