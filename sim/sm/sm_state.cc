#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>
#include <string_view>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

// What an event is for; when that is gone, it does nothing.
enum class Addressee { kSm, kWarp, kCta, kWgmmaCommand };

Addressee addressee(Sm::EventType type) {
  using enum Sm::EventType;
  switch (type) {
    case kCounter:
    case kLoadResult:
    case kBulkStored:
    case kStored:
    case kAsyncCopied:
      return Addressee::kWarp;
    case kBulkLoaded:
    case kMbarrierArrive:
    case kMbarrierVisible:
    case kBarrierRelease:
      return Addressee::kCta;
    case kWgmmaWrites:
    case kWgmmaReads:
    case kWgmmaComplete:
      return Addressee::kWgmmaCommand;
    default:
      return Addressee::kSm;
  }
}

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
  settle();
  const std::vector<uint64_t> reads = visitor.recording() ? std::vector<uint64_t>{} : wgmma_.port_reads();
  for (size_t l = 0; l < launches_.size(); ++l) visit_launch(static_cast<int>(l), visitor);
  visitor.time("next_cta_at", next_cta_at_);
  visitor.time("place_due", place_due_);
  visitor.value("open_wgmma", open_wgmma_);
  visitor.value("ctas_resident", static_cast<uint64_t>(std::ranges::count_if(ctas_, &Cta::resident)));
  for (size_t c = 0; c < ctas_.size(); ++c) visit_cta(static_cast<int>(c), visitor);
  Cycle blocked_since = kNever;
  for (SubCore& sub_core : sub_cores_) {
    sub_core.visit(visitor);
    for (int slot = 0; slot < sub_core.slots(); ++slot) {
      Warp& warp = sub_core.warp(slot);
      if (!warp.resident) continue;
      visit_warp_in_cta(warp, visitor);
      if (warp.blocked && warp.reason == WarpState::kMathPipeThrottle) blocked_since = std::min(blocked_since, warp.since);
    }
  }
  memory_.visit(visitor);
  uint64_t oldest_command = wgmma_.started();
  events_.for_each([&](const auto& event) {
    if (addressee(event.payload.type) == Addressee::kWgmmaCommand) oldest_command = std::min(oldest_command, event.payload.value);
  });
  wgmma_.visit(visitor, oldest_command, blocked_since);
  if (!visitor.recording()) wgmma_.add_port_reads(oldest_command, reads);
  visit_events(visitor);
  visitor.count(warps_started_);
  if (visitor.recording()) settle_absences(visitor.now());
  absent_since_ += visitor.shift();
  visit_other_runs(visitor);
  account_.visit(visitor);
  if (visitor.recording()) return;
  now_ += visitor.shift();
  may_part_ = true;
}

// How many CTAs run and what they hold follows from those that are resident.
void Sm::visit_launch(int launch, StateVisitor& visitor) {
  Progress& progress = progress_[launch];
  visitor.time("launch_ready", progress.ready);
  visitor.value("launch_started", progress.start != kNever);
  visitor.value("launch_has_ctas_left", progress.next_run < launches_[launch].ctas.size());
  // The last CTA that has ended by then ends that much later, if any ends in a period.
  const uint64_t done = progress.done;
  visitor.count(progress.done);
  if (progress.done != done) progress.end += visitor.shift();
  count_placed(launch, visitor.placed(progress.placed));
}

void Sm::visit_cta(int index, StateVisitor& visitor) {
  Cta& cta = ctas_[index];
  if (!cta.resident) return;
  visitor.values("cta_slot", index, "cta_launch", cta.launch);
  visitor.cta_class(cta.cta_class);
  visitor.values("cta_warps_running", cta.warps_running, "cta_register_pool", cta.register_pool);
  visitor.value("cta_warps", cta.warp_slots.size());
  for (const int slot : cta.warp_slots) visitor.value("cta_warp_slot", static_cast<uint64_t>(slot));
  const KernelImage& image = *launches_[cta.launch].image;
  for (size_t r = 0; r < cta.rings.size(); ++r) {
    const uint64_t depth = cta.rings[r].size();
    const uint64_t origin = ring_origin(cta, static_cast<int>(r));
    for (uint64_t step = origin; step < origin + depth; ++step) {
      Mbarrier& barrier = cta.rings[r][step % depth];
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
    visitor.value("barrier_arrived", barrier.arrived);
    visit_arrival("barrier_last", index, barrier.last, visitor);
  }
  for (Warpgroup& group : cta.warpgroups) {
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
  const KernelImage& image = *launches_[cta.launch].image;
  const int base = image.base_ring[ring];
  const std::vector<Mbarrier>& stages = cta.rings[base];
  if (!image.rotates[base]) return stages.front().completed * stages.size();
  for (const int s : cta.warp_slots) {
    const Warp& warp = sub_cores_[s % sub_cores_.size()].warp(static_cast<int>(s / sub_cores_.size()));
    if (!warp.resident || warp.exited) continue;
    for (size_t c = 0; c < image.cursor_ring.size(); ++c) {
      if (warp.program->uses_cursor[c] && image.cursor_ring[c] == base) return warp.cursors[c];
    }
  }
  return stages.front().completed * stages.size();
}

uint32_t Sm::stage_from_origin(int cta, int ring, uint32_t stage) const {
  const auto depth = static_cast<uint32_t>(ctas_[cta].rings[ring].size());
  return (stage + depth - static_cast<uint32_t>(ring_origin(ctas_[cta], ring) % depth)) % depth;
}

// What of a warp only means something beside its CTA.
void Sm::visit_warp_in_cta(Warp& warp, StateVisitor& visitor) {
  const Cta& cta = ctas_[warp.cta];
  const KernelImage& image = *launches_[warp.launch].image;
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
  Sm fresh(spec_, launches_);
  reset_arbiters(at);
  return key_of(*this) == key_of(fresh);
}

void Sm::visit_couplings(StateVisitor& visitor, const std::vector<bool>& coupled) {
  for (Cta& cta : ctas_) {
    if (!cta.resident || !coupled[cta.launch]) continue;
    visitor.value("cta_launch", static_cast<uint64_t>(cta.launch));
    visitor.value("cta_class", cta.cta_class);
    const KernelImage& image = *launches_[cta.launch].image;
    std::vector<uint64_t> first(cta.rings.size(), kNever);  // per ring: a cursor round it that the others are compared with
    for (const int s : cta.warp_slots) {
      Warp& warp = sub_cores_[s % sub_cores_.size()].warp(static_cast<int>(s / sub_cores_.size()));
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
  uint32_t busiest = account_.first_row(launch);
  for (uint32_t row = busiest + 1; row < account_.end_row(launch); ++row) {
    if (account_.cycles(row, WarpState::kSelected) > account_.cycles(busiest, WarpState::kSelected)) busiest = row;
  }
  return busiest;
}

void Sm::add_counts(const std::vector<uint64_t>& counts, const Account& account) {
  Snapshot state;
  StateVisitor taker(state, now_ + 1);
  visit(taker);
  if (state.counts.size() != counts.size()) throw std::logic_error("an SM counts something else than it did");
  FastForward skip;
  skip.counted = counts;
  skip.trips_taken.assign(state.trips.size(), 0);
  skip.moments.assign(state.moments.size(), 0);
  skip.placed.assign(launches_.size(), 0);
  StateVisitor visitor(skip);
  visit(visitor);
  account_.add_rows(account);
}

void Sm::had_launch(int launch, Cycle start, Cycle end) {
  if (start != kNever) progress_[launch].start = start;
  if (end != kNever) progress_[launch].end = end;
}

void Sm::correct(int launch, const Correction& correction) {
  LaunchAccount& account = account_.launch(launch);
  account.instructions += correction.instructions;
  account_.set_estimated();
  account_.spend(busiest_row(launch), WarpState::kSelected, correction.instructions);
  for (const auto& [place, cycles] : correction.waits) account_.spend(place.first, place.second, cycles);
  account.resident_warp_cycles += correction.resident_warp_cycles;
  account.l2_requested_bytes += correction.requested_bytes;
  account.l2_served_bytes += correction.served_bytes;
  progress_[launch].done += correction.ctas;
}

bool Sm::event_is_live(const Event& event) {
  switch (addressee(event.type)) {
    case Addressee::kWarp:
      return live_warp(event) != nullptr;
    case Addressee::kCta:
      return cta_lives(event.cta, event.serial);
    default:
      return true;
  }
}

// Of those that bring something about that a warp may wait for.
void Sm::visit_event_delay(const Event& event, StateVisitor& visitor) {
  switch (addressee(event.type)) {
    case Addressee::kWarp: {
      const Warp& warp = *live_warp(event);
      return visit_delay("event_lost", warp.launch, warp.cta, ctas_[warp.cta].serial, event.delay, visitor);
    }
    case Addressee::kCta:
      return visit_delay("event_lost", ctas_[event.cta].launch, event.cta, event.serial, event.delay, visitor);
    default:
      return;
  }
}

uint64_t Sm::event_value(const Event& event) {
  if (addressee(event.type) == Addressee::kWgmmaCommand) return wgmma_.started() - event.value;
  switch (event.type) {
    case EventType::kMbarrierVisible:
      return ctas_[event.cta].rings[event.ring][event.stage].completed - event.value;
    case EventType::kBarrierRelease:
      return ctas_[event.cta].barriers[event.ring].completed - event.value;
    case EventType::kAsyncCopied:
      return live_warp(event)->async.committed - event.value;
    case EventType::kStored:
    case EventType::kBulkStored:
      return 0;
    default:
      return event.value;
  }
}

uint32_t Sm::event_stage(const Event& event) const {
  switch (event.type) {
    case EventType::kBulkLoaded:
    case EventType::kMbarrierArrive:
    case EventType::kMbarrierVisible:
      return stage_from_origin(event.cta, event.ring, event.stage);
    default:
      return event.stage;
  }
}

void Sm::visit_events(StateVisitor& visitor) {
  if (!visitor.recording()) return events_.shift(visitor.shift());
  event_order_.clear();
  events_.for_each([&](const auto& event) {
    if (event_is_live(event.payload)) event_order_.push_back(&event);
  });
  std::ranges::sort(event_order_, [](const auto* a, const auto* b) {
    return a->time != b->time ? a->time < b->time : a->sequence < b->sequence;
  });
  visitor.value("events", event_order_.size());
  for (const auto* pointer : event_order_) {
    const Event& event = pointer->payload;
    visitor.relative("event_time", pointer->time - visitor.now());
    visitor.values("event_type", event.type, "event_sub_core", event.sub_core, "event_slot", event.slot, "event_counter",
                   event.counter, "event_cta", event.cta, "event_ring", event.ring);
    visitor.value("event_stage", event_stage(event));
    visitor.relative("event_value", event_value(event));
    visit_event_delay(event, visitor);
  }
}

uint64_t Sm::fingerprint() const {
  uint64_t print = events_.size();
  for (const auto& sub_core : sub_cores_) print = std::rotl(print, 17) * 0x9e3779b97f4a7c15ULL ^ sub_core.fingerprint();
  return print;
}

void Sm::settle() {
  for (SubCore& sub_core : sub_cores_) sub_core.settle();
}

uint64_t Sm::instructions() const {
  uint64_t issued = 0;
  for (int l = 0; l < account_.launches(); ++l) issued += account_.launch(l).instructions;
  for (const SubCore& sub_core : sub_cores_) issued += sub_core.unsettled();
  return issued;
}

}  // namespace warpfold::sim
