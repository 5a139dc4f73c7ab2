#include "sim/sm/tensor_pipe.h"

#include <algorithm>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {

Delay TensorPipe::start(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle interval, Arrival* before, Cycle now) {
  late = charge(sm, owner, late, ready, now);
  history_.hold(now, owner.launch);
  free_at_ = now + interval;
  last_ = {free_at_, late};
  if (before != nullptr) {
    if (remembered(sm, *before, now)) late.all = std::min(late.all, joined(sm, *before, owner.cta, now).all);
    *before = {free_at_, late};
  }
  launch_ = owner.launch;
  cta_ = owner.cta;
  serial_ = owner.cta_serial;
  return late;
}

// Returns the delay of a product that has waited since `ready`. Behind products of its own CTA, it is as late as the
// later of the two would be without contention. Behind products of other launches, it loses the cycles that they took.
// The remaining wait is the kernel's own.
Delay TensorPipe::charge(Sm& sm, const ProductOwner& owner, Delay late, Cycle ready, Cycle now) const {
  Cycle lost = 0;
  history_.charge(ready, now, owner.launch, [&](int culprit, uint64_t cycles) {
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

void TensorPipe::stand_still(Sm& sm, int launch, Cycle cycles, Cycle lost) {
  free_at_ += cycles;
  last_.at += cycles;
  hold_up(sm.state(), last_.delay, launch_, cta_, serial_, {launch_ == launch ? lost : cycles, 0});
}

void TensorPipe::charge_wait(Sm& sm, const Warp& warp, Cycle to) const {
  history_.charge(warp.since, to, warp.launch,
                  [&](int culprit, uint64_t cycles) { sm.ledger().charge(warp.row, culprit, resource_, cycles); });
}

void TensorPipe::delay_by_wait(Sm& sm, Warp& warp, Cycle to) const {
  SmState& state = sm.state();
  if (!kAccounting || !state.coupled(warp.launch)) return;
  history_.charge(warp.since, to, warp.launch, [&](int culprit, uint64_t cycles) {
    delay_warp(state, warp, &Delay::all, cycles);
    if (culprit != warp.launch) delay_warp(state, warp, &Delay::others, cycles);
  });
}

void TensorPipe::visit(Sm& sm, StateVisitor& visitor, bool delayable, Cycle earliest) {
  // The binding lists all fields. Not visited: resource, which is constant; launch, which is the CTA's.
  [[maybe_unused]] const auto& [resource, free_at, last, launch, cta, serial, history] = *this;
  history_.visit(visitor, earliest);
  // A stall moves free_at even if it is past.
  if (delayable) {
    visitor.moment("tensor_pipe_free", free_at_);
  } else {
    visitor.time("tensor_pipe_free", free_at_);
  }
  // The owner of the last product matters to the CTA's next product.
  const bool lives = sm.state().cta_lives(cta_, serial_);
  visitor.value("pipe_cta", lives ? static_cast<uint64_t>(cta_) + 1 : 0);
  Arrival nobodys;
  visit_arrival(sm, "pipe_late", cta_, lives ? last_ : nobodys, visitor);
}

}  // namespace warpfold::sim
