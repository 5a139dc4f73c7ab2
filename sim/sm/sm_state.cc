#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string_view>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// Which launches there are, and how far they have come, is not the SM's own.
class OwnFields : public KeyFilter {
 public:
  bool keeps(const char* name, uint64_t /*word*/) override {
    return std::ranges::find(kOfLaunches, std::string_view(name)) == kOfLaunches.end();
  }

 private:
  static constexpr std::array<std::string_view, 4> kOfLaunches = {"launch_ready", "launch_started", "launch_has_ctas_left",
                                                                  "dram_fraction"};
};

}  // namespace

void Sm::visit(StateVisitor& visitor) {
  // Every field. Not visited: held and slot_taken follow from the resident CTAs, absences from the launches; next_serial is a name;
  // loop_end is about the observer.
  [[maybe_unused]] auto& [launches, progress, held, absences, absent_since, alternatives, account, events, sub_cores, memory, wgmma,
                          ctas, slot_taken, open_wgmma, loop_end, next_serial, warps_started, next_cta_at, place_due, last_cycle] =
      state_;
  settle();
  const std::vector<uint64_t> reads = visitor.recording() ? std::vector<uint64_t>{} : state_.wgmma.port_reads(*this);
  for (size_t l = 0; l < state_.launches.size(); ++l) visit_launch(static_cast<int>(l), visitor);
  visitor.time("next_cta_at", state_.next_cta_at);
  visitor.time("place_due", state_.place_due);
  visitor.value("open_wgmma", state_.open_wgmma);
  visitor.value("ctas_resident", static_cast<uint64_t>(std::ranges::count_if(state_.ctas, &Cta::resident)));
  for (size_t c = 0; c < state_.ctas.size(); ++c) visit_cta(static_cast<int>(c), visitor);
  Cycle blocked_since = kNever;
  for (SubCore& sub_core : state_.sub_cores) {
    sub_core.visit(*this, visitor);
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (!warp.resident) continue;
      visit_warp_in_cta(warp, visitor);
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
  if (!visitor.recording()) state_.wgmma.add_port_reads(*this, oldest_command, reads);
  visit_events(visitor);
  visitor.count(state_.warps_started);
  if (visitor.recording()) settle_absences(visitor.now());
  state_.absent_since += visitor.shift();
  visit_other_runs(visitor);
  state_.account.visit(visitor);
  if (visitor.recording()) return;
  state_.now += visitor.shift();
  may_part_ = true;
}

// How many CTAs run and what they hold follows from those that are resident.
void Sm::visit_launch(int launch, StateVisitor& visitor) {
  LaunchProgress& progress = state_.progress[launch];
  // Every field. start, but for whether it is, and end are results; next_run and next_in_run follow from placed, running from the
  // resident CTAs.
  [[maybe_unused]] const auto& [ready, start, end, next_run, next_in_run, placed, running, ended] = progress;
  visitor.time("launch_ready", progress.ready);
  visitor.value("launch_started", progress.start != kNever);
  visitor.value("launch_has_ctas_left", progress.next_run < state_.launches[launch].ctas.size());
  // The last CTA that has ended by then ends that much later, if any ends in a period.
  const uint64_t done = progress.done;
  visitor.count(progress.done);
  if (progress.done != done) progress.end += visitor.shift();
  count_placed(launch, visitor.placed(progress.placed));
}

void Sm::visit_cta(int index, StateVisitor& visitor) {
  Cta& cta = state_.ctas[index];
  if (!cta.resident) return;
  // Every field of a CTA. Not visited: serial, a name; registers and shared_memory, its launch's.
  [[maybe_unused]] const auto& [resident, serial, launch, cta_class, warps_running, registers, shared_memory, register_pool,
                                most_delay, warp_slots, rings, barriers, warpgroups] = cta;
  visitor.values("cta_slot", index, "cta_launch", cta.launch);
  visitor.cta_class(cta.cta_class);
  visitor.values("cta_warps_running", cta.warps_running, "cta_register_pool", cta.register_pool);
  visitor.value("cta_warps", cta.warp_slots.size());
  for (const int slot : cta.warp_slots) visitor.value("cta_warp_slot", static_cast<uint64_t>(slot));
  const KernelImage& image = *state_.launches[cta.launch].image;
  for (size_t r = 0; r < cta.rings.size(); ++r) {
    const uint64_t depth = cta.rings[r].size();
    const uint64_t origin = ring_origin(cta, static_cast<int>(r));
    for (uint64_t step = origin; step < origin + depth; ++step) {
      Mbarrier& barrier = cta.rings[r][step % depth];
      [[maybe_unused]] const auto& [arrivals_left, bytes_left, completed, visible, arrived, seen] = barrier;
      visitor.value("mbarrier_arrivals_left", barrier.arrivals_left);
      visitor.value("mbarrier_bytes_left", static_cast<uint64_t>(barrier.bytes_left));
      visitor.relative("mbarrier_completed", barrier.completed - step / depth);
      visitor.relative("mbarrier_visible", barrier.visible - step / depth);
      visit_arrival("mbarrier_arrived", index, barrier.arrived, visitor);
      visit_arrival("mbarrier_seen", index, barrier.seen, visitor);
      if (image.waited_once[r]) visitor.relative("mbarrier_once", barrier.visible >= 1);
    }
  }
  uint32_t filling = 0;
  for (int b = 0; b < kNamedBarriers; ++b) filling |= (cta.barriers[b].arrived > 0 ? 1U : 0U) << b;
  visitor.value("barriers_filling", filling);
  for (; filling != 0; filling &= filling - 1) {
    NamedBarrier& barrier = cta.barriers[std::countr_zero(filling)];
    // Phases count from where the waiting warps stand (visit_warp_in_cta).
    [[maybe_unused]] const auto& [arrived, completed, last] = barrier;
    visitor.value("barrier_arrived", barrier.arrived);
    visit_arrival("barrier_last", index, barrier.last, visitor);
  }
  for (Warpgroup& group : cta.warpgroups) {
    [[maybe_unused]] const auto& [opened, issued_by, last, done, started] = group;
    uint64_t arrived = 0;
    for (uint64_t j = 1; j <= group.arrived.size(); ++j) {
      arrived = arrived << 4 | group.arrived[(group.opened - j) % group.arrived.size()];
    }
    visitor.relative("wgmma_arrived", arrived);
    for (uint64_t j = 1; j <= group.arrived.size(); ++j) {
      const uint64_t open = (group.opened - j) % group.arrived.size();
      if (group.arrived[open] > 0) visit_arrival("wgmma_last", index, group.last[open], visitor);
    }
    visit_arrival("wgmma_done", index, group.done, visitor);
    visit_arrival("wgmma_started", index, group.started, visitor);
  }
}

// Where all go round a ring by cursors, its stages are alike, and a state is the same if all of them stand some stages further on:
// the first warp's cursor is the origin. Else it is the first stage, in its present phase.
uint64_t Sm::ring_origin(const Cta& cta, int ring) const {
  const KernelImage& image = *state_.launches[cta.launch].image;
  const int base = image.base_ring[ring];
  const std::vector<Mbarrier>& stages = cta.rings[base];
  if (!image.rotates[base]) return stages.front().completed * stages.size();
  for (const int s : cta.warp_slots) {
    const Warp& warp = state_.sub_cores[s % state_.sub_cores.size()].warp(static_cast<int>(s / state_.sub_cores.size()));
    if (!warp.resident || warp.exited) continue;
    for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
      if (warp.program->uses_cursor[c] && image.cursor_ring[c] == base) return warp.cursors[c];
    }
  }
  return stages.front().completed * stages.size();
}

uint32_t Sm::stage_from_origin(int cta, int ring, uint32_t stage) const {
  const auto depth = static_cast<uint32_t>(state_.ctas[cta].rings[ring].size());
  return (stage + depth - static_cast<uint32_t>(ring_origin(state_.ctas[cta], ring) % depth)) % depth;
}

// What of a warp only means something beside its CTA.
void Sm::visit_warp_in_cta(Warp& warp, StateVisitor& visitor) {
  const Cta& cta = state_.ctas[warp.cta];
  const KernelImage& image = *state_.launches[warp.launch].image;
  if (warp.in_barrier) visitor.relative("barrier_phase", cta.barriers[warp.barrier].completed - warp.barrier_phase);
  visitor.relative("wgmma_sequence", cta.warpgroups[warp.index_in_cta / 4].opened - warp.wgmma_sequence);
  visit_delay("warp_lost", warp.launch, warp.cta, cta.serial, warp.delay, visitor);
  if (warp.exited) return;
  for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
    if (!warp.program->uses_cursor[c]) continue;
    const uint64_t depth = image.kernel->cursors[c].depth;
    const int ring = image.cursor_ring[c];
    visitor.relative("cursor", ring < 0 ? warp.cursors[c] % depth : warp.cursors[c] - ring_origin(cta, ring));
  }
}

bool Sm::is_pristine(Cycle at) {
  OwnFields own_fields;
  const auto key_of = [&](Sm& sm) {
    Snapshot state;
    StateVisitor visitor(state, at, &own_fields);
    sm.visit(visitor);
    return state.key;
  };
  if (spec_.half_ports() && at % 2 != 0) return false;
  Sm fresh(spec_, state_.launches);
  reset_arbiters(at);
  return key_of(*this) == key_of(fresh);
}

void Sm::visit_couplings(StateVisitor& visitor, const std::vector<bool>& coupled) {
  for (Cta& cta : state_.ctas) {
    if (!cta.resident || !coupled[cta.launch]) continue;
    visitor.value("cta_launch", static_cast<uint64_t>(cta.launch));
    visitor.value("cta_class", cta.cta_class);
    const KernelImage& image = *state_.launches[cta.launch].image;
    std::vector<uint64_t> first(cta.rings.size(), kNever);  // per ring: a cursor round it that the others are compared with
    for (const int s : cta.warp_slots) {
      Warp& warp = state_.sub_cores[s % state_.sub_cores.size()].warp(static_cast<int>(s / state_.sub_cores.size()));
      if (!warp.resident) continue;
      visitor.value("cta_warp_slot", static_cast<uint64_t>(s));
      visitor.value("warp_op", warp.exited ? 0 : warp.op->place + 1);
      visitor.value("wgmma_sequence", cta.warpgroups[warp.index_in_cta / 4].opened - warp.wgmma_sequence);
      if (warp.exited) continue;
      for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
        if (!warp.program->uses_cursor[c] || image.cursor_ring[c] < 0) continue;
        uint64_t& base = first[image.cursor_ring[c]];
        if (base == kNever) base = warp.cursors[c];
        visitor.relative("cursor", warp.cursors[c] - base);
      }
      visitor.trips(warp.serial, warp.launch, warp.trips_left.data(), warp.op->depth);
    }
  }
}

// Where the launch has issued most: what is corrected is little beside it.
uint32_t Sm::busiest_row(int launch) const {
  uint32_t busiest = state_.account.first_row(launch);
  for (uint32_t row = busiest + 1; row < state_.account.end_row(launch); ++row) {
    if (state_.account.cycles(row, WarpState::kSelected) > state_.account.cycles(busiest, WarpState::kSelected)) busiest = row;
  }
  return busiest;
}

void Sm::add_counts(const std::vector<uint64_t>& counts, const Account& account) {
  Snapshot state;
  StateVisitor taker(state, state_.now + 1);
  visit(taker);
  if (state.counts.size() != counts.size()) throw std::logic_error("an SM counts something else than it did");
  FastForward skip;
  skip.counted = counts;
  skip.trips_taken.assign(state.trips.size(), 0);
  skip.moments.assign(state.moments.size(), 0);
  skip.placed.assign(state_.launches.size(), 0);
  StateVisitor visitor(skip);
  visit(visitor);
  state_.account.add_rows(account);
}

void Sm::had_launch(int launch, Cycle start, Cycle end) {
  if (start != kNever) state_.progress[launch].start = start;
  if (end != kNever) state_.progress[launch].end = end;
}

void Sm::correct(int launch, const Correction& correction) {
  LaunchAccount& account = state_.account.launch(launch);
  account.instructions += correction.instructions;
  state_.account.set_estimated();
  state_.account.spend(busiest_row(launch), WarpState::kSelected, correction.instructions);
  for (const auto& [place, cycles] : correction.waits) state_.account.spend(place.first, place.second, cycles);
  account.resident_warp_cycles += correction.resident_warp_cycles;
  account.l2_requested_bytes += correction.requested_bytes;
  account.l2_served_bytes += correction.served_bytes;
  state_.progress[launch].done += correction.ctas;
}

bool Sm::is_live(const BarrierEvent& event) const { return cta_lives(event.cta, event.serial); }
bool Sm::is_live(const SubCoreEvent& event) { return state_.sub_cores[event.sub_core].is_live(event); }

EventKey Sm::key_of(const SubCoreEvent& event) { return state_.sub_cores[event.sub_core].key_of(*this, event); }
EventKey Sm::key_of(const MemoryEvent& event) { return {.kind = static_cast<uint8_t>(event.kind)}; }
EventKey Sm::key_of(const WgmmaEvent& event) { return state_.wgmma.key_of(event); }
EventKey Sm::key_of(const PlacementEvent& event) { return {.kind = static_cast<uint8_t>(event.kind), .cta = event.cta}; }

// Phases count from those completed, a stage from the ring's origin.
EventKey Sm::key_of(const BarrierEvent& event) {
  const auto& [kind, cta, barrier, stage, serial, value, delay] = event;
  EventKey key{.kind = static_cast<uint8_t>(kind), .cta = cta, .barrier = barrier, .value = value};
  key.delay = {state_.ctas[cta].launch, cta, serial, delay};
  using enum BarrierEvent::Kind;
  if (kind == kRelease) {
    key.value = state_.ctas[cta].barriers[barrier].completed - value;
  } else {
    key.stage = stage_from_origin(cta, barrier, stage);
    if (kind == kVisible) key.value = mbarrier_of(event).completed - value;
  }
  return key;
}

void Sm::visit_events(StateVisitor& visitor) {
  if (!visitor.recording()) return state_.events.shift(visitor.shift());
  event_order_.clear();
  state_.events.for_each([&](const auto& event) {
    if (std::visit([&](const auto& each) { return is_live(each); }, event.payload)) event_order_.push_back(&event);
  });
  std::ranges::sort(event_order_, [](const auto* a, const auto* b) {
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
  });
  visitor.value("events", event_order_.size());
  for (const auto* event : event_order_) {
    const EventKey key = std::visit([&](const auto& each) { return key_of(each); }, event->payload);
    // Units have few kinds.
    const auto type = static_cast<uint8_t>(event->payload.index() << 4 | key.kind);
    visitor.relative("event_time", event->time - visitor.now());
    visitor.values("event_type", type, "event_sub_core", key.sub_core, "event_slot", key.slot, "event_counter", key.counter,
                   "event_cta", key.cta, "event_ring", key.barrier);
    visitor.value("event_stage", key.stage);
    visitor.relative("event_value", key.value);
    if (key.delay) visit_delay("event_lost", key.delay->launch, key.delay->cta, key.delay->cta_serial, key.delay->delay, visitor);
  }
}

uint64_t Sm::fingerprint() const {
  uint64_t print = state_.events.size();
  for (const auto& sub_core : state_.sub_cores) print = std::rotl(print, 17) * 0x9e3779b97f4a7c15ULL ^ sub_core.fingerprint();
  return print;
}

void Sm::settle() {
  for (SubCore& sub_core : state_.sub_cores) sub_core.settle(*this);
}

uint64_t Sm::instructions() const {
  uint64_t issued = 0;
  for (int l = 0; l < state_.account.launches(); ++l) issued += state_.account.launch(l).instructions;
  for (const SubCore& sub_core : state_.sub_cores) issued += sub_core.unsettled();
  return issued;
}

}  // namespace warpfold::sim
