// Losses that warps pass on. A warp that another kernel holds up is late, and so is every warp of its own kernel that waits for it.
// Warp::delay says by how many cycles others have made a warp late so far. A warp that has waited is as late as the one it waited
// for, whether that is more (it inherits, no more than it waited) or less (its own lateness is hidden: it would have had to wait in
// any case):
//
//   producer   loses 30 cycles to another kernel, then fills a stage                     delay 30
//   consumer   waits 50 cycles for the stage: 30 of them are inherited                   delay 0 -> 30
//   producer   is free again long before the consumer is, and waits for it: nothing      delay 30 (the consumer's)
//
// What a warp starts, a copy, a load, a wgmma, starts with its warp's delay, and adds what delays it on its way. Only how
// far apart they are counts, and no more than kMostApart of that.
#include <algorithm>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

uint64_t behind(uint64_t delay, uint64_t most) { return most - within(delay, most); }

// In a key: a delay ahead of the CTA's most, which does not include it yet, is a negative number behind.
uint64_t behind(Delay late, Delay most, uint32_t bits) {
  const uint64_t mask = (uint64_t{1} << bits) - 1;
  return (behind(late.all, most.all) & mask) << bits | (behind(late.others, most.others) & mask);
}

}  // namespace

// The wait that has just ended took `waited` cycles and was for a warp or request that is late by `delay`. Warps that wait for
// their own requests alone have no history: the request's delay is what they inherit.
void Sm::inherit(Warp& warp, Delay delay, Cycle waited) {
  if (!passes_on_) return;
  Delay& furthest = state_.ctas[warp.cta].most_delay;
  const Delay own = within(warp.delay, furthest);
  const Delay late = least(within(delay, furthest), own + waited);
  state_.account.inherit(warp.waiting_row, warp.reason, own, late);
  if (!coupled(warp.launch)) return;
  state_.account.hide(warp.waiting_row, warp.reason, own, late);
  warp.delay = late;
  furthest = most(furthest, late);
}

// It needed no waiting for what had come before: undisturbed it may have had to.
void Sm::pass(Warp& warp, const Arrival& before, WarpState state, Cycle now) {
  if (!remembered(before, now)) return;
  const Delay own = within(warp.delay, state_.ctas[warp.cta].most_delay);
  const Delay late = least(own, joined(before, warp.cta, now));
  state_.account.hide(warp.row, state, own, late);
  warp.delay = late;
}

bool Sm::remembered(const Arrival& arrival, Cycle now) const {
  return passes_on_ && arrival.at != kNever && arrival.at + kMostApart > now;
}

// One more has arrived, with `delay`.
void Sm::join(Arrival& arrival, int cta, Delay delay, Cycle now) {
  arrival = {now, remembered(arrival, now) ? least(delay, joined(arrival, cta, now)) : delay};
}

// How late those that have arrived are together, the last of them now.
Delay Sm::joined(const Arrival& arrival, int cta, Cycle now) const {
  return within(arrival.delay, state_.ctas[cta].most_delay) + (now - arrival.at);
}

void Sm::visit_arrival(const char* name, int cta, Arrival& arrival, StateVisitor& visitor) const {
  if (!passes_on_) return;
  if (!visitor.recording()) {
    arrival.at = visitor.moved(arrival.at, kNever);
    return;
  }
  if (!remembered(arrival, visitor.now())) return visitor.relative(name, 0);
  visitor.relative(name, (visitor.now() - arrival.at + kMostApart) << 48 | behind(arrival.delay, state_.ctas[cta].most_delay, 24));
}

void Sm::visit_delay(const char* name, int launch, int cta, uint64_t cta_serial, Delay delay, StateVisitor& visitor) const {
  if (!passes_on_) return;
  if (!cta_lives(cta, cta_serial)) return visitor.relative(name, 0);
  visitor.relative(name, coupled(launch) ? behind(delay, state_.ctas[cta].most_delay, 32) : delay.others);
}

}  // namespace warpfold::sim
