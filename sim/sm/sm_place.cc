#include <algorithm>
#include <utility>

#include "sim/sm/sm.h"

namespace warpfold::sim {

void Sm::handle(const PlacementEvent& event, Cycle now) {
  using enum PlacementEvent::Kind;
  switch (event.kind) {
    case kRelease:
      if (std::ranges::none_of(state_.ctas, &Cta::resident)) reset_arbiters(now);
      return place_ctas(now);
    case kPlace:
      return place_ctas(now);
    case kCtaEnd:
      return end_cta(event.cta, now);
  }
}

// CTAs are placed in launch order as long as they fit: left-over placement. A launch that has CTAs left holds back the ones
// behind it, except where reservations or quotas part the SM between those of its epoch.
void Sm::place_ctas(Cycle now) {
  place_what_fits(now);
  assess_absences(now);
}

void Sm::place_what_fits(Cycle now) {
  for (const int launch : order_) {
    if (state_.progress[launch].ready > now) continue;
    while (state_.progress[launch].next_run < state_.launches[launch].ctas.size()) {
      if (!may_place(launch, now)) break;
      if (state_.next_cta_at > now) {
        // One for all who ask: each would ask again as long as there is room.
        if (std::exchange(state_.place_due, state_.next_cta_at) != state_.next_cta_at)
          schedule(state_.next_cta_at, PlacementEvent{PlacementEvent::Kind::kPlace});
        return;
      }
      launch_cta(launch, now);
      state_.next_cta_at = now + spec_.cta_launch;
    }
  }
}

bool Sm::may_place(int launch, Cycle now) {
  const bool may = !held_back_by(launch, now) && fits(launch);
  compare_placement(may, launch, now);
  return may;
}

// The launch that comes first.
std::optional<int> Sm::held_back_by(int launch, Cycle now) const {
  const auto parts = [&](const SmLaunch& each) { return each.epoch == state_.launches[launch].epoch && each.any(); };
  if (std::ranges::any_of(state_.launches, parts)) return std::nullopt;
  for (const int earlier : order_) {
    if (earlier == launch) break;
    if (state_.progress[earlier].ready <= now && ctas_left(earlier)) return earlier;
  }
  return std::nullopt;
}

// Released by now, which an SM may know earlier, and with CTAs left.
bool Sm::active(int launch) const { return state_.progress[launch].ready <= state_.now && !launch_done(launch); }

bool Sm::others_left(int launch) const {
  for (int other = 0; other < static_cast<int>(state_.launches.size()); ++other) {
    if (other != launch && active(other)) return true;
  }
  return false;
}

// What an SM's launches hold and have reserved, seen by `launch`. A reservation bounds its launch in the resources that it
// names, and keeps others out of them, as long as both have CTAs left.
bool Sm::fits_resource(int launch, uint32_t need, uint32_t capacity, uint32_t HeldResources::* held,
                       uint32_t SmLaunch::* reserved) const {
  const SmLaunch& own = state_.launches[launch];
  const bool bound = own.reserved && own.*reserved > 0 && others_left(launch);
  if (bound && state_.held[launch].*held + need > own.*reserved) return false;
  uint32_t used = 0;
  for (size_t other = 0; other < state_.launches.size(); ++other) {
    const bool keeps =
        !bound && state_.launches[other].reserved && active(static_cast<int>(other)) && static_cast<int>(other) != launch;
    used += keeps ? std::max(state_.launches[other].*reserved, state_.held[other].*held) : state_.held[other].*held;
  }
  return used + need <= capacity;
}

// A launch without another beside it may fill the SM, as both published schemes part an SM anew when a kernel comes or ends.
bool Sm::fits_quota(int launch) const {
  const SmQuota& quota = state_.launches[launch].quota;
  if (!quota.bounds() || !others_left(launch)) return true;
  const Footprint& need = state_.launches[launch].image->footprint;
  const HeldResources& held = state_.held[launch];
  const auto within = [](uint64_t amount, uint32_t bound) { return bound == 0 || amount <= bound; };
  return within(state_.progress[launch].running + 1, quota.ctas) && within(held.warps + need.warps, quota.warps) &&
         within(held.registers + need.registers, quota.registers);
}

bool Sm::fits(int launch) const {
  const Footprint& need = state_.launches[launch].image->footprint;
  std::vector<int> slots;
  return std::ranges::any_of(state_.ctas, [](const Cta& cta) { return !cta.resident; }) && fits_quota(launch) &&
         fits_resource(launch, need.registers, spec_.registers, &HeldResources::registers, &SmLaunch::reserved_registers) &&
         fits_resource(launch, need.shared_memory, spec_.shared_memory_bytes, &HeldResources::shared_memory,
                       &SmLaunch::reserved_shared_memory) &&
         fits_resource(launch, need.warps, spec_.warp_slots, &HeldResources::warps, &SmLaunch::reserved_warps) &&
         find_slots(need.warps, slots);
}

// Warp w of a CTA lives on sub-core (first + w) mod 4. A CTA of four warps or more starts at sub-core 0, so that a
// warpgroup's four warps lie on four sub-cores; a smaller one starts where most slots are free.
bool Sm::find_slots(uint32_t warps, std::vector<int>& slots) const {
  const auto cores = static_cast<uint32_t>(state_.sub_cores.size());
  std::vector<std::vector<int>> free(cores);
  for (size_t s = 0; s < state_.slot_taken.size(); ++s) {
    if (!state_.slot_taken[s]) free[s % cores].push_back(static_cast<int>(s));
  }
  uint32_t first = 0;
  if (warps < cores) {
    for (uint32_t c = 1; c < cores; ++c) {
      if (free[c].size() > free[first].size()) first = c;
    }
  }
  std::vector<size_t> used(cores, 0);
  for (uint32_t w = 0; w < warps; ++w) {
    const uint32_t core = (first + w) % cores;
    if (used[core] == free[core].size()) return false;
    slots.push_back(free[core][used[core]++]);
  }
  return true;
}

void Sm::launch_cta(int launch, Cycle now) {
  LaunchProgress& progress = state_.progress[launch];
  const SmLaunch& from = state_.launches[launch];
  const traces::CtaRun& run = from.ctas[progress.next_run];
  const auto index =
      static_cast<int>(std::ranges::find_if(state_.ctas, [](const Cta& cta) { return !cta.resident; }) - state_.ctas.begin());
  const Footprint& need = from.image->footprint;
  Cta& cta = state_.ctas[index];
  cta = Cta{};
  cta.resident = true;
  cta.serial = state_.next_serial++;
  cta.launch = launch;
  cta.cta_class = run.cta_class;
  cta.registers = need.registers;
  cta.shared_memory = need.shared_memory;
  for (const traces::Ring& ring : from.image->kernel->rings) {
    const uint64_t passed = ring.starts_free ? 1 : 0;
    cta.rings.emplace_back(ring.depth, Mbarrier{ring.arrivals, 0, passed, passed});
  }
  cta.warpgroups.resize((need.warps + 3) / 4);
  state_.held[launch].registers += need.registers;
  state_.held[launch].shared_memory += need.shared_memory;
  state_.held[launch].warps += need.warps;
  if (progress.start == kNever) progress.start = now;
  if (timeline_) timeline_->cta_placed(static_cast<size_t>(index), launch, cta.cta_class, now);
  ++progress.running;
  count_placed(launch, 1);
  start_warps(cta, index, now);
}

void Sm::count_placed(int launch, uint64_t ctas) {
  if (ctas == 0) return;
  may_part_ = true;
  state_.count_placed(launch, ctas);
}

void Sm::start_warps(Cta& cta, int index, Cycle now) {
  const KernelImage& image = *state_.launches[cta.launch].image;
  cta.warps_running = image.footprint.warps;
  find_slots(image.footprint.warps, cta.warp_slots);
  for (uint32_t w = 0; w < image.footprint.warps; ++w) {
    const int s = cta.warp_slots[w];
    state_.slot_taken[s] = true;
    SubCore& sub_core = state_.sub_cores[s % state_.sub_cores.size()];
    const auto slot = static_cast<int>(s / state_.sub_cores.size());
    Warp& warp = sub_core.warp(slot);
    warp = Warp{};
    warp.resident = true;
    warp.program = &image.programs[image.role_of_warp[w]];
    warp.op = warp.program->ops.data();
    warp.launch = cta.launch;
    warp.cta = index;
    warp.index_in_cta = static_cast<int>(w);
    warp.serial = state_.next_serial++;
    warp.number = state_.warps_started++;
    warp.registers = image.kernel->registers_per_thread;
    for (size_t c = 0; c < image.kernel->cursors.size(); ++c) warp.cursors[c] = image.kernel->cursors[c].start;
    sub_core.start_warp(*this, slot, now);
    if (timeline_) {
      const Segment& segment = image.segments[warp.op->segment];
      timeline_->warp_started(static_cast<size_t>(index), w, cta.launch, segment.role, segment.phase, now);
    }
  }
}

// An exited warp stays resident until its stores have left the SM (drain).
void Sm::maybe_end_warp(int sub_core, int slot, Delay delay, Cycle now) {
  Warp& warp = state_.sub_cores[sub_core].warp(slot);
  if (!warp.exited || warp.outstanding_stores > 0 || warp.outstanding_bulk_stores > 0) return;
  const Cycle end = std::max(now, warp.last_issue + 1);
  state_.account.spend(warp.row, WarpState::kDrain, end - (warp.last_issue + 1));
  if (end > warp.last_issue + 1) {
    warp.reason = WarpState::kDrain;
    warp.waiting_row = warp.row;
    inherit(warp, delay, end - (warp.last_issue + 1));
  }
  state_.account.launch(warp.launch).resident_warp_cycles += end - warp.started;
  warp.resident = false;
  if (timeline_) {
    const auto role = static_cast<uint32_t>(state_.launches[warp.launch].image->role_of_warp[warp.index_in_cta]);
    timeline_->warp_ended(static_cast<size_t>(warp.cta), role, end);
  }
  if (--state_.ctas[warp.cta].warps_running == 0) {
    schedule(end + spec_.cta_turnaround, PlacementEvent{PlacementEvent::Kind::kCtaEnd, static_cast<uint16_t>(warp.cta)});
  }
}

void Sm::end_cta(int index, Cycle now) {
  Cta& cta = state_.ctas[index];
  cta.resident = false;
  for (const int s : cta.warp_slots) state_.slot_taken[s] = false;
  state_.held[cta.launch].registers -= cta.registers;
  state_.held[cta.launch].shared_memory -= cta.shared_memory;
  state_.held[cta.launch].warps -= static_cast<uint32_t>(cta.warp_slots.size());
  LaunchProgress& progress = state_.progress[cta.launch];
  --progress.running;
  ++progress.done;
  progress.end = now;
  if (timeline_) timeline_->cta_ended(static_cast<size_t>(index), now);
  launch_ended_ |= launch_done(cta.launch);
  state_.loop_end |= state_.launches[cta.launch].image->loop_free[cta.cta_class];
  place_ctas(now);
}

}  // namespace warpfold::sim
