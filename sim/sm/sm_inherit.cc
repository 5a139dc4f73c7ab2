// Losses that warps pass on. A warp that another kernel holds up is late, and so is every warp of its own kernel that
// waits for it. Warp::delay counts the cycles by which a warp is late so far. After a wait, a warp is as late as the
// warp for which it waited. If that is more than before, the warp inherits the difference, up to the cycles that it
// waited. If it is less, the warp's own lateness is hidden: it would have waited in any case.
//
//   producer   loses 30 cycles to another kernel, then fills a stage                     delay 30
//   consumer   waits 50 cycles for the stage: 30 of them are inherited                   delay 0 -> 30
//   producer   is ready again long before the consumer and waits for it: inherits none   delay 30 (the consumer's)
//
// An operation that a warp starts (a copy, a load, a wgmma) begins with the warp's delay and adds its own delays. Only
// differences between delays count, up to kMostApart.
#include "sim/sm/sm_inherit.h"

#include <algorithm>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

uint64_t behind(uint64_t delay, uint64_t most) { return most - within(delay, most); }

// As a key holds it. A delay ahead of the CTA's largest, which does not include it yet, is a negative distance.
uint64_t behind(Delay late, Delay most, uint32_t bits) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return (behind(late.all, most.all) & mask) << bits | (behind(late.others, most.others) & mask);
}

}  // namespace

// A warp that waits only for its own requests has no history: it inherits the request's delay.
void inherit(Sm& sm, Warp& warp, Delay delay, Cycle waited) {
  SmState& state = sm.state();
  if (!sm.tracks_delays()) return;
  Delay& furthest = state.ctas[warp.cta].most_delay;
  const Delay own = within(warp.delay, furthest);
  const Delay late = least(within(delay, furthest), own + waited);
  state.account.inherit(warp.waiting_row, warp.reason, own, late);
  if (!state.coupled(warp.launch)) return;
  state.account.hide(warp.waiting_row, warp.reason, own, late);
  warp.delay = late;
  furthest = most(furthest, late);
}

void pass(Sm& sm, Warp& warp, const Arrival& before, WarpState waiting, Cycle now) {
  if (!remembered(sm, before, now)) return;
  const Delay own = within(warp.delay, sm.state().ctas[warp.cta].most_delay);
  const Delay late = least(own, joined(sm, before, warp.cta, now));
  sm.ledger().hide(warp.row, waiting, own, late);
  warp.delay = late;
}

bool remembered(const Sm& sm, const Arrival& arrival, Cycle now) {
  return sm.tracks_delays() && arrival.at != kNever && arrival.at + kMostApart > now;
}

void join(const Sm& sm, Arrival& arrival, int cta, Delay delay, Cycle now) {
  arrival = {now, remembered(sm, arrival, now) ? least(delay, joined(sm, arrival, cta, now)) : delay};
}

Delay joined(const Sm& sm, const Arrival& arrival, int cta, Cycle now) {
  const SmState& state = sm.state();
  return within(arrival.delay, state.ctas[cta].most_delay) + (now - arrival.at);
}

void visit_arrival(const Sm& sm, const char* name, int cta, Arrival& arrival, StateVisitor& visitor) {
  const SmState& state = sm.state();
  if (!sm.tracks_delays()) return;
  if (!visitor.recording()) {
    arrival.at = visitor.moved(arrival.at, kNever);
    return;
  }
  if (!remembered(sm, arrival, visitor.now())) return visitor.relative(name, 0);
  visitor.relative(name, (visitor.now() - arrival.at + kMostApart) << 48 | behind(arrival.delay, state.ctas[cta].most_delay, 24));
}

void visit_delay(const Sm& sm, const char* name, int launch, int cta, uint64_t cta_serial, Delay delay, StateVisitor& visitor) {
  const SmState& state = sm.state();
  // The callers visit separately whether the CTA still exists.
  if (!sm.tracks_delays() || !state.cta_lives(cta, cta_serial)) return;
  visitor.relative(name, state.coupled(launch) ? behind(delay, state.ctas[cta].most_delay, 32) : delay.others);
}

}  // namespace warpfold::sim
