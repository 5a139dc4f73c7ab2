#include "sim/sm/product_history.h"

#include <algorithm>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {

Delay ProductHistory::started(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle end, Arrival* before, Cycle now) {
  late = charge(sm, owner, late, ready, now);
  holders_.hold(now, owner.launch);
  last_ = {end, late};
  if (before != nullptr) {
    if (remembered(sm, *before, now)) late.all = std::min(late.all, joined(sm, *before, owner.cta, now).all);
    *before = {end, late};
  }
  launch_ = owner.launch;
  cta_ = owner.cta;
  serial_ = owner.cta_serial;
  return late;
}

// Returns the delay of a product that has waited since `ready`. Behind products of its own CTA, it is as late as the
// later of the two would be without contention. Behind products of other launches, it loses the cycles that they took.
// The remaining wait is the kernel's own.
Delay ProductHistory::charge(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle now) const {
  Cycle lost = 0;
  holders_.charge(ready, now, owner.launch, [&](int culprit, uint64_t cycles) {
    sm.ledger().charge_request(owner.row, culprit, resource_, cycles);
    if (culprit != owner.launch) lost += cycles;
  });
  const uint64_t waited = now - ready;
  hold_up(sm.state(), late, owner.launch, owner.cta, owner.cta_serial, {lost, waited});
  const bool behind_own = lost == 0 && cta_ == owner.cta && serial_ == owner.cta_serial;
  if (behind_own && remembered(sm, last_, now))
    late.others = std::min(late.others + waited, joined(sm, last_, owner.cta, now).others);
  return late;
}

void ProductHistory::stood_still(const Sm& sm, int launch, Cycle cycles, Cycle lost) {
  last_.at += cycles;
  hold_up(sm.state(), last_.delay, launch_, cta_, serial_, {launch_ == launch ? lost : cycles, 0});
}

void ProductHistory::charge_wait(Sm& sm, const Warp& warp, Cycle until) const {
  holders_.charge(warp.since, until, warp.launch,
                  [&](int culprit, uint64_t cycles) { sm.ledger().charge(warp.row, culprit, resource_, cycles); });
}

void ProductHistory::delay_by_wait(Sm& sm, Warp& warp, Cycle until) const {
  SmState& state = sm.state();
  if (!kAccounting || !state.coupled(warp.launch)) return;
  holders_.charge(warp.since, until, warp.launch, [&](int culprit, uint64_t cycles) {
    delay_warp(state, warp, &Delay::all, cycles);
    if (culprit != warp.launch) delay_warp(state, warp, &Delay::others, cycles);
  });
}

void ProductHistory::visit_last(Sm& sm, StateVisitor& visitor) {
  // The binding lists all fields. Not visited: resource, which is constant; launch, which is the CTA's.
  [[maybe_unused]] const auto& [resource, last, launch, cta, serial, holders] = *this;
  // The owner of the last product matters to the CTA's next product.
  const bool lives = sm.state().cta_lives(cta_, serial_);
  visitor.value("pipe_cta", lives ? static_cast<uint64_t>(cta_) + 1 : 0);
  Arrival nobodys;
  visit_arrival(sm, "pipe_late", cta_, lives ? last_ : nobodys, visitor);
}

}  // namespace warpfold::sim
