#include "sim/sm/sm_state.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "sim/sm/alternative_bounds.h"
#include "sim/sm/barrier_unit.h"
#include "sim/sm/cta_slots.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_absence.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
namespace {

std::vector<uint32_t> segments_of(const std::vector<SmLaunch>& launches) {
  std::vector<uint32_t> segments;
  for (const SmLaunch& launch : launches) segments.push_back(static_cast<uint32_t>(launch.image->segments.size()));
  return segments;
}

// Changes the warp's trips left, which are of class `from`, to the trips left that class `to` would have.
void exchange_trips(Warp& warp, const traces::Kernel& kernel, uint32_t from, uint32_t to) {
  for (uint32_t depth = 0; depth < warp.op->depth; ++depth) {
    const traces::TripCount& count = warp.program->loop_around(*warp.op, depth).trips;
    warp.trips_left[depth] += traces::trips(count, kernel.cta_classes[to]) - traces::trips(count, kernel.cta_classes[from]);
  }
}

void visit_launch(Sm& sm, int launch, StateVisitor& visitor) {
  SmState& state = sm.state();
  LaunchProgress& progress = state.progress[launch];
  // The binding lists all fields. Not visited: start, except whether it is set, and end, which are results; next_run
  // and next_in_run, which follow from placed; running, which follows from the resident CTAs.
  [[maybe_unused]] const auto& [ready, start, end, over, next_run, next_in_run, placed, running, ended] = progress;
  visitor.time("launch_ready", progress.ready);
  visitor.time("launch_over", progress.over);
  visitor.value("launch_started", progress.start != kNever);
  visitor.value("launch_has_ctas_left", state.listed(launch));
  visitor.value("cta_source", std::to_underlying(state.launches[launch].source));
  // If CTAs end in the skipped periods, the last one ends later by as many cycles as are skipped.
  const uint64_t done = progress.done;
  visitor.count(progress.done);
  if (progress.done != done) progress.end += visitor.shift();
  count_placed(sm, launch, visitor.placed(progress.placed));
}

void visit_cta(Sm& sm, int index, StateVisitor& visitor) {
  Cta& cta = sm.state().ctas[index];
  if (!cta.resident) return;
  // The binding lists all fields. Not visited: serial, which is a name; registers, shared_memory and tensor_memory,
  // which are the launch's.
  [[maybe_unused]] const auto& [resident, serial, launch, cta_class, warps_running, registers, shared_memory, tensor_memory,
                                register_pool, most_delay, warp_slots, rings, barriers, warpgroups, product_started,
                                products_complete, product_delay, grid_arrivals] = cta;
  visitor.values("cta_slot", index, "cta_launch", cta.launch);
  visitor.cta_class(cta.cta_class);
  visitor.values("cta_warps_running", cta.warps_running, "cta_register_pool", cta.register_pool);
  visitor.value("cta_warps", cta.warp_slots.size());
  for (const WarpSlot slot : cta.warp_slots) visitor.value("cta_warp_slot", static_cast<uint64_t>(slot));
  visit_barriers(sm, index, visitor);
  for (Warpgroup& group : cta.warpgroups) {
    [[maybe_unused]] const auto& [opened, issued_by, last, done, started] = group;
    uint64_t arrived = 0;
    for (uint64_t j = 1; j <= group.arrived.size(); ++j) {
      arrived = arrived << 4 | group.arrived[(group.opened - j) % group.arrived.size()];
    }
    visitor.relative("wgmma_arrived", arrived);
    for (uint64_t j = 1; j <= group.arrived.size(); ++j) {
      const uint64_t open = (group.opened - j) % group.arrived.size();
      if (group.arrived[open] > 0) visit_arrival(sm, "wgmma_last", index, group.last[open], visitor);
    }
    visit_arrival(sm, "wgmma_done", index, group.done, visitor);
    visit_arrival(sm, "wgmma_started", index, group.started, visitor);
  }
  visit_arrival(sm, "tcgen05_started", index, cta.product_started, visitor);
  if (cta.products_complete > visitor.now())
    visit_delay(sm, "product_delay", cta.launch, index, cta.serial, cta.product_delay, visitor);
  visitor.time("products_complete", cta.products_complete);
  if (sm.state().launches[cta.launch].image->meets_in_grid)
    visitor.relative("grid_phase", sm.memory().grid(cta.launch).completed - cta.grid_arrivals);
}

// Visits the fields of a warp that are relative to its CTA.
void visit_warp_in_cta(const Sm& sm, const Warp& warp, StateVisitor& visitor) {
  const SmState& state = sm.state();
  const Cta& cta = state.ctas[warp.cta];
  const KernelImage& image = *state.launches[warp.launch].image;
  if (warp.in_barrier) visitor.relative("barrier_phase", cta.barriers[warp.barrier].completed - warp.barrier_phase);
  visitor.relative("wgmma_sequence", cta.warpgroups[warp.index_in_cta / 4].opened - warp.wgmma_sequence);
  visit_delay(sm, "warp_delay", warp.launch, warp.cta, cta.serial, warp.delay, visitor);
  if (warp.exited) return;
  for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
    if (!warp.program->uses_cursor[c]) continue;
    const uint64_t depth = image.kernel->cursors[c].depth;
    const int ring = image.cursor_ring[c];
    visitor.relative("cursor", ring < 0 ? warp.cursors[c] % depth : warp.cursors[c] - ring_origin(sm, cta, ring));
  }
}

// True if the warp or CTA of an event is still there. barrier_unit.h declares the overload for barriers.
bool is_live(Sm& sm, const SubCoreEvent& event) { return sm.sub_core(event.sub_core).is_live(event); }
template <typename Other>
bool is_live(const Sm& /*sm*/, const Other& /*event*/) {
  return true;
}

// Returns the event as a state key holds it.
EventKey key_of(Sm& sm, const SubCoreEvent& event) { return sm.sub_core(event.sub_core).key_of(sm, event); }
EventKey key_of(const Sm& /*sm*/, const MemoryEvent& event) { return {.kind = static_cast<uint8_t>(event.kind)}; }
EventKey key_of(const Sm& sm, const WgmmaEvent& event) { return sm.wgmma().key_of(event); }
EventKey key_of(const Sm& /*sm*/, const Tcgen05Event& /*event*/) { return {}; }
EventKey key_of(const Sm& /*sm*/, const PlacementEvent& event) {
  return {.kind = static_cast<uint8_t>(event.kind), .cta = event.cta};
}

void visit_events(Sm& sm, StateVisitor& visitor) {
  SmState& state = sm.state();
  if (!visitor.recording()) return state.events.shift(visitor.shift());
  std::vector<const EventQueue<Event>::Event*> order;
  state.events.for_each([&](const auto& event) {
    if (std::visit([&](const auto& each) { return is_live(sm, each); }, event.payload)) order.push_back(&event);
  });
  std::ranges::sort(
      order, [](const auto* a, const auto* b) { return a->time != b->time ? a->time < b->time : a->sequence < b->sequence; });
  visitor.value("events", order.size());
  for (const auto* event : order) {
    const EventKey key = std::visit([&](const auto& each) { return key_of(sm, each); }, event->payload);
    // Each unit has fewer than 16 kinds of events.
    const auto type = static_cast<uint8_t>(event->payload.index() << 4 | key.kind);
    visitor.relative("event_time", event->time - visitor.now());
    visitor.values("event_type", type, "event_sub_core", key.sub_core, "event_slot", key.slot, "event_counter", key.counter,
                   "event_cta", key.cta, "event_ring", key.barrier);
    visitor.value("event_stage", std::to_underlying(key.stage));
    visitor.relative("event_value", key.value);
    if (key.delay)
      visit_delay(sm, "event_delay", key.delay->launch, key.delay->cta, key.delay->cta_serial, key.delay->delay, visitor);
  }
}

}  // namespace

SmState initial_state(const Spec& spec, std::vector<SmLaunch> launches) {
  const size_t count = launches.size();
  Account account(segments_of(launches));
  MemoryStage memory(spec, launches);
  SmState state{.launches = std::move(launches),
                .progress = std::vector<LaunchProgress>(count),
                .held = std::vector<HeldResources>(count),
                .absences = std::vector<std::vector<Absence>>(count),
                .present = std::vector<uint64_t>(count),
                .account = std::move(account),
                .memory = std::move(memory),
                .ctas = std::vector<Cta>(spec.cta_slots),
                .slot_taken = std::vector<bool>(size_t{spec.sub_cores} * spec.warp_slots_per_sub_core, false)};
  for (uint32_t i = 0; i < spec.sub_cores; ++i) state.sub_cores.emplace_back(spec, count, static_cast<int>(i));
  return state;
}

bool SmState::differs_from_alternatives_like(const SmState& other) const {
  return std::ranges::equal(alternatives, other.alternatives, [](const AlternativeRun& a, const AlternativeRun& b) {
    return (a.differences > 0) == (b.differences > 0);
  });
}

void SmState::receive(std::vector<CtaList> lists) {
  for (size_t l = 0; l < launches.size(); ++l) {
    launches[l].ctas = std::move(lists[l]);
    const uint64_t placed = std::exchange(progress[l].placed, 0);
    progress[l].next_run = 0;
    progress[l].next_in_run = 0;
    count_placed(static_cast<int>(l), placed);
  }
}

void SmState::count_placed(int launch, uint64_t count) {
  LaunchProgress& own = progress[launch];
  const CtaList& list = launches[launch].ctas;
  own.placed += count;
  own.next_in_run += count;
  while (own.next_run < list.size() && own.next_in_run >= list[own.next_run].count) own.next_in_run -= list[own.next_run++].count;
}

void SmState::exchange_classes(const std::vector<ClassMap>& class_of) {
  for (SubCore& sub_core : sub_cores) {
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (!warp.resident || warp.exited) continue;
      const uint32_t from = ctas[warp.cta].cta_class;
      exchange_trips(warp, *launches[warp.launch].image->kernel, from, class_of[warp.launch].at(from));
    }
  }
  for (Cta& cta : ctas) {
    if (cta.resident) cta.cta_class = class_of[cta.launch].at(cta.cta_class);
  }
}

bool SmState::others_resident(int launch) const {
  const auto place = static_cast<size_t>(launch);
  for (size_t other = 0; other < progress.size(); ++other) {
    if (other != place && progress[other].running > 0) return true;
  }
  return false;
}

bool SmState::others_under_way(int launch) const {
  const auto place = static_cast<size_t>(launch);
  for (size_t other = 0; other < progress.size(); ++other) {
    if (other != place && progress[other].ready <= now && now < progress[other].over) return true;
  }
  return false;
}

uint64_t SmState::trips(const Warp& warp, const traces::TripCount& count) const {
  if (count.parameter < 0) return count.literal;
  const traces::Kernel& kernel = *launches[warp.launch].image->kernel;
  return kernel.cta_classes[ctas[warp.cta].cta_class].values[count.parameter];
}

void Sm::visit(StateVisitor& visitor) {
  // The binding lists all fields. Not visited:
  //
  //   held, slot_taken               follow from the resident CTAs
  //   present                        follows from held
  //   absences                       follow from the launches
  //   next_serial                    identifies warps and CTAs, nothing more
  //   loop_end                       concerns the observer
  //   warps_started                  numbers the warps of the issue log, which only full replays write
  //   may_place, asking_launch, interrupted   are set only in a cycle that has not run completely
  [[maybe_unused]] auto& [launches, progress, held, absences, present, absent_since, alternatives, account, events, due, sub_cores,
                          memory, wgmma, tcgen05, ctas, slot_taken, open_wgmma, loop_end, next_serial, warps_started, next_cta_at,
                          place_due, may_place, asking_launch, interrupted, last_cycle] = state_;
  settle();
  const std::vector<uint64_t> reads = visitor.recording() ? std::vector<uint64_t>{} : state_.wgmma.port_reads(*this);
  for (size_t l = 0; l < state_.launches.size(); ++l) visit_launch(*this, static_cast<int>(l), visitor);
  visitor.time("next_cta_at", state_.next_cta_at);
  visitor.time("place_due", state_.place_due);
  visitor.value("open_wgmma", state_.open_wgmma);
  visitor.value("ctas_resident", static_cast<uint64_t>(std::ranges::count_if(state_.ctas, &Cta::resident)));
  for (size_t c = 0; c < state_.ctas.size(); ++c) visit_cta(*this, static_cast<int>(c), visitor);
  Cycle blocked_since = kNever;
  for (SubCore& sub_core : state_.sub_cores) {
    sub_core.visit(*this, visitor);
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (!warp.resident) continue;
      visit_warp_in_cta(*this, warp, visitor);
      if (warp.blocked && warp.reason == WarpState::kMathPipeThrottle) blocked_since = std::min(blocked_since, warp.since);
    }
  }
  state_.memory.visit(*this, visitor);
  uint64_t oldest_command = state_.wgmma.started();
  state_.events.for_each([&](const auto& event) {
    const auto* of_wgmma = std::get_if<WgmmaEvent>(&event.payload);
    if (of_wgmma != nullptr && of_wgmma->kind != WgmmaEvent::Kind::kStart)
      oldest_command = std::min(oldest_command, of_wgmma->command);
  });
  state_.wgmma.visit(*this, visitor, oldest_command, blocked_since);
  state_.tcgen05.visit(*this, visitor, blocked_since);
  if (!visitor.recording()) state_.wgmma.add_port_reads(*this, oldest_command, reads);
  visit_events(*this, visitor);
  if (visitor.recording()) settle_absences(*this, visitor.now());
  state_.absent_since += visitor.shift();
  visit_alternatives(*this, visitor);
  state_.account.visit(visitor);
  if (visitor.recording()) return;
  state_.now += visitor.shift();
  control_.may_diverge = true;
}

}  // namespace warpfold::sim
