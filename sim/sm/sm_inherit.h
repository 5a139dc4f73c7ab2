// What other launches cost a warp, and which warps wait for it.
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

// A warp is held up.
inline void delay_warp(SmState& state, Warp& warp, uint64_t Delay::*history, Cycle cycles) {
  uint64_t& furthest = state.ctas[warp.cta].most_delay.*history;
  uint64_t& delay = warp.delay.*history;
  delay = within(delay, furthest) + cycles;
  furthest = std::max(furthest, delay);
}
// Something that a CTA of the launch has started, and which has `delay` so far, is held up. The part of its lag behind the CTA's
// most delayed warp that the key does not hold is forgotten first.
inline void hold_up(const SmState& state, Delay& delay, int launch, int cta, uint64_t cta_serial, Delay by) {
  if (state.coupled(launch) && state.cta_lives(cta, cta_serial)) delay = within(delay, state.ctas[cta].most_delay);
  delay = delay + by;
}
// The wait that has just ended took `waited` cycles and was for a warp or request that is late by `delay`.
void inherit(Sm& sm, Warp& warp, Delay delay, Cycle waited);
// The warp needed no waiting for what had come before: undisturbed it may have had to.
void pass(Sm& sm, Warp& warp, const Arrival& before, WarpState waiting, Cycle now);
bool remembered(const Sm& sm, const Arrival& arrival, Cycle now);
// One more has arrived, with `delay`.
void join(const Sm& sm, Arrival& arrival, int cta, Delay delay, Cycle now);
// How late those that have arrived are together, the last of them now.
Delay joined(const Sm& sm, const Arrival& arrival, int cta, Cycle now);

void visit_arrival(const Sm& sm, const char* name, int cta, Arrival& arrival, StateVisitor& visitor);
// Shows the delay of a part of a CTA to a key: how far it is behind the CTA's most.
void visit_delay(const Sm& sm, const char* name, int launch, int cta, uint64_t cta_serial, Delay delay, StateVisitor& visitor);

}  // namespace warpfold::sim
