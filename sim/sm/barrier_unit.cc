#include "sim/sm/barrier_unit.h"

#include <bit>
#include <utility>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {

using isa::Behaviour;

namespace {

Mbarrier& mbarrier_of(Sm& sm, const BarrierEvent& event) {
  return sm.state().ctas[event.cta].rings[event.barrier][std::to_underlying(event.stage)];
}

// `event`: the last arrival, or the last bytes, so far.
void finish_phase(Sm& sm, const BarrierEvent& event, Cycle now) {
  SmState& state = sm.state();
  Mbarrier& barrier = mbarrier_of(sm, event);
  if (barrier.arrivals_left > 0 || barrier.bytes_left > 0) return;
  barrier.arrivals_left = state.launches[state.ctas[event.cta].launch].image->kernel->rings[event.barrier].arrivals;
  ++barrier.completed;
  BarrierEvent visible = event;
  visible.kind = BarrierEvent::Kind::kVisible;
  visible.value = barrier.completed;
  visible.delay = joined(sm, std::exchange(barrier.arrived, {}), event.cta, now);
  sm.schedule(now + sm.spec().mbarrier_latency, visible);
}

void mbarrier_arrive(Sm& sm, const BarrierEvent& event, Cycle now) {
  Mbarrier& barrier = mbarrier_of(sm, event);
  barrier.bytes_left += static_cast<int64_t>(event.value);  // bytes to expect
  join(sm, barrier.arrived, event.cta, event.delay, now);
  // More arrivals than a phase takes have no effect: no program may count on them.
  if (barrier.arrivals_left > 0) --barrier.arrivals_left;
  finish_phase(sm, event, now);
}

void mbarrier_bytes(Sm& sm, const BarrierEvent& event, Cycle now) {
  Mbarrier& barrier = mbarrier_of(sm, event);
  barrier.bytes_left -= static_cast<int64_t>(event.value);
  join(sm, barrier.arrived, event.cta, event.delay, now);
  finish_phase(sm, event, now);
}

void release_barrier(Sm& sm, const BarrierEvent& event, Cycle now) {
  SmState& state = sm.state();
  for (const WarpSlot s : state.ctas[event.cta].warp_slots) {
    const WarpPlace place = state.place_of(s);
    SubCore& sub_core = sm.sub_core(place.sub_core);
    Warp& warp = sub_core.warp(place.slot);
    if (!warp.resident || !warp.in_barrier || warp.barrier != event.barrier || warp.barrier_phase != event.value) continue;
    warp.in_barrier = false;
    sub_core.reconsider(sm, place.slot, now, event.delay);
  }
}

}  // namespace

void handle(Sm& sm, const BarrierEvent& event, Cycle now) {
  if (!is_live(sm, event)) return;
  using enum BarrierEvent::Kind;
  switch (event.kind) {
    case kBytes:
      return mbarrier_bytes(sm, event, now);
    case kArrive:
      return mbarrier_arrive(sm, event, now);
    case kVisible: {
      Mbarrier& barrier = mbarrier_of(sm, event);
      barrier.visible = event.value;
      barrier.seen = {now, event.delay};
      return reconsider_cta(sm, event.cta, event.delay, now);
    }
    case kRelease:
      return release_barrier(sm, event, now);
  }
}

const Mbarrier& awaited_mbarrier(const Sm& sm, const Warp& warp, const MicroOp& op, uint64_t& phases) {
  const SmState& state = sm.state();
  const uint64_t steps = op.cursor >= 0 ? warp.cursors[op.cursor] : 0;
  const auto& ring = state.ctas[warp.cta].rings[op.barrier];
  phases = steps / ring.size() + 1;
  return ring[steps % ring.size()];
}

void arrive_at_barrier(Sm& sm, Warp& warp, const MicroOp& op, Cycle now) {
  Cta& cta = sm.state().ctas[warp.cta];
  const int id = op.barrier < 0 ? 0 : op.barrier;
  NamedBarrier& barrier = cta.barriers[id];
  const uint32_t expected = op.count > 0 ? op.count / 32U : static_cast<uint32_t>(cta.warp_slots.size());
  if (op.behaviour == Behaviour::kBarrierSync) {
    warp.in_barrier = true;
    warp.barrier = static_cast<uint8_t>(id);
    warp.barrier_op = &op;
    warp.waiting_row = sm.ledger().row(warp.launch, op.segment);
    warp.barrier_phase = barrier.completed;
  }
  join(sm, barrier.last, warp.cta, warp.delay, now);
  if (++barrier.arrived < expected) return;
  barrier.arrived = 0;
  const uint64_t phase = barrier.completed++;
  sm.schedule(now + sm.spec().barrier_latency, BarrierEvent{.kind = BarrierEvent::Kind::kRelease,
                                                            .cta = static_cast<uint16_t>(warp.cta),
                                                            .barrier = static_cast<uint16_t>(id),
                                                            .serial = cta.serial,
                                                            .value = phase,
                                                            .delay = joined(sm, std::exchange(barrier.last, {}), warp.cta, now)});
}

void reconsider_cta(Sm& sm, int cta, Delay delay, Cycle now) {
  SmState& state = sm.state();
  for (const WarpSlot s : state.ctas[cta].warp_slots) {
    const WarpPlace place = state.place_of(s);
    if (state.warp(place).resident) sm.sub_core(place.sub_core).reconsider(sm, place.slot, now, delay);
  }
}

// If all instructions go through a ring by cursor, its stages are interchangeable. A state is then the same after all
// cursors have moved by some stages, so the first warp's cursor is the origin. Otherwise the origin is the first stage,
// in its present phase.
uint64_t ring_origin(const Sm& sm, const Cta& cta, int ring) {
  const SmState& state = sm.state();
  const KernelImage& image = *state.launches[cta.launch].image;
  const int base = image.base_ring[ring];
  const std::vector<Mbarrier>& stages = cta.rings[base];
  if (!image.rotates[base]) return stages.front().completed * stages.size();
  for (const WarpSlot s : cta.warp_slots) {
    const Warp& warp = state.warp(state.place_of(s));
    if (!warp.resident || warp.exited) continue;
    for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
      if (warp.program->uses_cursor[c] && image.cursor_ring[c] == base) return warp.cursors[c];
    }
  }
  return stages.front().completed * stages.size();
}

RingStage stage_from_origin(const Sm& sm, int cta, int ring, RingStage stage) {
  const SmState& state = sm.state();
  const auto depth = static_cast<uint32_t>(state.ctas[cta].rings[ring].size());
  const auto origin = static_cast<uint32_t>(ring_origin(sm, state.ctas[cta], ring) % depth);
  return RingStage{(std::to_underlying(stage) + depth - origin) % depth};
}

bool is_live(const Sm& sm, const BarrierEvent& event) { return sm.state().cta_lives(event.cta, event.serial); }

// Phases are relative to the completed ones, stages to the ring's origin.
EventKey key_of(const Sm& sm, const BarrierEvent& event) {
  const SmState& state = sm.state();
  const auto& [kind, cta, barrier, stage, serial, value, delay] = event;
  EventKey key{.kind = static_cast<uint8_t>(kind), .cta = cta, .barrier = barrier, .value = value};
  key.delay = {state.ctas[cta].launch, cta, serial, delay};
  using enum BarrierEvent::Kind;
  if (kind == kRelease) {
    key.value = state.ctas[cta].barriers[barrier].completed - value;
  } else {
    key.stage = stage_from_origin(sm, cta, barrier, stage);
    if (kind == kVisible) key.value = state.ctas[cta].rings[barrier][std::to_underlying(stage)].completed - value;
  }
  return key;
}

void visit_barriers(Sm& sm, int cta_index, StateVisitor& visitor) {
  const SmState& state = sm.state();
  Cta& cta = sm.state().ctas[cta_index];
  const KernelImage& image = *state.launches[cta.launch].image;
  for (size_t r = 0; r < cta.rings.size(); ++r) {
    const uint64_t depth = cta.rings[r].size();
    const uint64_t origin = ring_origin(sm, cta, static_cast<int>(r));
    for (uint64_t step = origin; step < origin + depth; ++step) {
      Mbarrier& barrier = cta.rings[r][step % depth];
      [[maybe_unused]] const auto& [arrivals_left, bytes_left, completed, visible, arrived, seen] = barrier;
      visitor.value("mbarrier_arrivals_left", barrier.arrivals_left);
      visitor.value("mbarrier_bytes_left", static_cast<uint64_t>(barrier.bytes_left));
      visitor.relative("mbarrier_completed", barrier.completed - step / depth);
      visitor.relative("mbarrier_visible", barrier.visible - step / depth);
      visit_arrival(sm, "mbarrier_arrived", cta_index, barrier.arrived, visitor);
      visit_arrival(sm, "mbarrier_seen", cta_index, barrier.seen, visitor);
      if (image.waited_once[r]) visitor.relative("mbarrier_once", barrier.visible >= 1);
    }
  }
  uint32_t filling = 0;
  for (int b = 0; b < kNamedBarriers; ++b) filling |= (cta.barriers[b].arrived > 0 ? 1U : 0U) << b;
  visitor.value("barriers_filling", filling);
  for (; filling != 0; filling &= filling - 1) {
    NamedBarrier& barrier = cta.barriers[std::countr_zero(filling)];
    // sm_state.cc visits completed, relative to the phase that each waiting warp waits for.
    [[maybe_unused]] const auto& [arrived, completed, last] = barrier;
    visitor.value("barrier_arrived", barrier.arrived);
    visit_arrival(sm, "barrier_last", cta_index, barrier.last, visitor);
  }
}

}  // namespace warpfold::sim
