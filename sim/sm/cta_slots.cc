#include "sim/sm/cta_slots.h"

#include <algorithm>
#include <utility>

#include "sim/sm/alternative_bounds.h"
#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_absence.h"
#include "sim/sm/warp_placement.h"

namespace warpfold::sim {
namespace {

bool others_left(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  for (int other = 0; other < static_cast<int>(state.launches.size()); ++other) {
    if (other != launch && active(sm, other)) return true;
  }
  return false;
}

bool may_place(Sm& sm, int launch, Cycle now) {
  const bool may = !held_back_by(sm, launch, now) && fits(sm, launch);
  compare_placement(sm, may, launch, now);
  return may;
}

void start_warps(Sm& sm, Cta& cta, int index, Cycle now) {
  SmState& state = sm.state();
  const KernelImage& image = *state.launches[cta.launch].image;
  cta.warps_running = image.footprint.warps;
  cta.warp_slots = *find_slots(sm, image.footprint.warps);
  for (uint32_t w = 0; w < image.footprint.warps; ++w) {
    state.slot_taken[std::to_underlying(cta.warp_slots[w])] = true;
    const WarpPlace place = state.place_of(cta.warp_slots[w]);
    SubCore& sub_core = sm.sub_core(place.sub_core);
    Warp& warp = sub_core.warp(place.slot);
    warp = Warp{};
    warp.resident = true;
    warp.program = &image.programs[image.role_of_warp[w]];
    warp.op = warp.program->ops.data();
    warp.launch = cta.launch;
    warp.cta = index;
    warp.index_in_cta = static_cast<int>(w);
    warp.serial = state.next_serial++;
    warp.ordinal = state.warps_started++;
    warp.registers = image.kernel->registers_per_thread;
    for (size_t c = 0; c < image.kernel->cursors.size(); ++c) warp.cursors[c] = image.kernel->cursors[c].start;
    sub_core.start_warp(sm, place.slot, now);
    if (sm.observation().timeline) {
      const Segment& segment = image.segments[warp.op->segment];
      sm.observation().timeline->warp_started(static_cast<size_t>(index), w, cta.launch, segment.role, segment.phase, now);
    }
  }
}

void launch_cta(Sm& sm, int launch, Cycle now) {
  SmState& state = sm.state();
  LaunchProgress& progress = state.progress[launch];
  const SmLaunch& from = state.launches[launch];
  const traces::CtaRun& run = from.ctas[progress.next_run];
  const auto index =
      static_cast<int>(std::ranges::find_if(state.ctas, [](const Cta& cta) { return !cta.resident; }) - state.ctas.begin());
  const Footprint& need = from.image->footprint;
  Cta& cta = state.ctas[index];
  cta = Cta{};
  cta.resident = true;
  cta.serial = state.next_serial++;
  cta.launch = launch;
  cta.cta_class = run.cta_class;
  cta.registers = need.registers;
  cta.shared_memory = need.shared_memory;
  cta.tensor_memory = need.tensor_memory;
  for (const traces::Ring& ring : from.image->kernel->rings) {
    const uint64_t passed = ring.starts_free ? 1 : 0;
    cta.rings.emplace_back(ring.depth, Mbarrier{ring.arrivals, 0, passed, passed});
  }
  cta.warpgroups.resize((need.warps + 3) / 4);
  state.held[launch].registers += need.registers;
  state.held[launch].shared_memory += need.shared_memory;
  state.held[launch].tensor_memory += need.tensor_memory;
  state.held[launch].warps += need.warps;
  if (progress.start == kNever) progress.start = now;
  if (sm.observation().timeline) sm.observation().timeline->cta_placed(static_cast<size_t>(index), launch, cta.cta_class, now);
  ++progress.running;
  count_placed(sm, launch, 1);
  start_warps(sm, cta, index, now);
}

void place_what_fits(Sm& sm, Cycle now) {
  SmState& state = sm.state();
  for (const int launch : sm.placement_order()) {
    if (state.progress[launch].ready > now) continue;
    // CTAs of an early launch were started before: they wait for nothing but the release.
    const bool started = state.launches[launch].early && state.progress[launch].ready == now;
    while (state.ctas_left(launch)) {
      const bool loan_ended = !state.listed(launch) && state.launches[launch].source == CtaSource::kLoan;
      if (!loan_ended && !may_place(sm, launch, now)) break;
      if (loan_ended) {
        state.asking_launch = launch;
        return;
      }
      if (state.next_cta_at > now && !started) {
        // One event for all launches: otherwise each launch would schedule one whenever it has room.
        if (std::exchange(state.place_due, state.next_cta_at) != state.next_cta_at)
          sm.schedule(state.next_cta_at, PlacementEvent{PlacementEvent::Kind::kPlace});
        return;
      }
      if (!state.listed(launch)) {
        state.asking_launch = launch;
        return;
      }
      launch_cta(sm, launch, now);
      if (!started) state.next_cta_at = now + sm.spec().cta_launch;
    }
  }
}

void end_cta(Sm& sm, int index, Cycle now) {
  SmState& state = sm.state();
  Cta& cta = state.ctas[index];
  cta.resident = false;
  for (const WarpSlot slot : cta.warp_slots) state.slot_taken[std::to_underlying(slot)] = false;
  state.held[cta.launch].registers -= cta.registers;
  state.held[cta.launch].shared_memory -= cta.shared_memory;
  state.held[cta.launch].tensor_memory -= cta.tensor_memory;
  state.held[cta.launch].warps -= static_cast<uint32_t>(cta.warp_slots.size());
  LaunchProgress& progress = state.progress[cta.launch];
  --progress.running;
  ++progress.done;
  progress.end = now;
  if (sm.observation().timeline) sm.observation().timeline->cta_ended(static_cast<size_t>(index), now);
  sm.control().launch_ended |= state.launch_done(cta.launch);
  state.loop_end |= state.launches[cta.launch].image->loop_free[cta.cta_class];
}

}  // namespace

void place_ctas(Sm& sm, Cycle now) {
  place_what_fits(sm, now);
  assess_absences(sm, now);
}

void handle(Sm& sm, const PlacementEvent& event, Cycle now) {
  SmState& state = sm.state();
  state.may_place = true;
  using enum PlacementEvent::Kind;
  if (event.kind == kRelease && std::ranges::none_of(state.ctas, &Cta::resident)) sm.reset_arbiters(now);
  if (event.kind == kCtaEnd) end_cta(sm, event.cta, now);
}

// An exited warp stays resident until its stores are done (drain).
void maybe_end_warp(Sm& sm, int sub_core, int slot, Delay delay, Cycle now) {
  SmState& state = sm.state();
  Warp& warp = state.sub_cores[sub_core].warp(slot);
  if (!warp.exited || warp.outstanding_stores > 0 || warp.outstanding_bulk_stores > 0) return;
  const Cycle end = std::max(now, warp.last_issue + 1);
  tell(sm, WarpDrained{warp, end, delay});
  warp.resident = false;
  if (sm.observation().timeline) {
    const auto role = static_cast<uint32_t>(state.launches[warp.launch].image->role_of_warp[warp.index_in_cta]);
    sm.observation().timeline->warp_ended(static_cast<size_t>(warp.cta), role, end);
  }
  if (--state.ctas[warp.cta].warps_running == 0) {
    sm.schedule(end + sm.spec().cta_turnaround, PlacementEvent{PlacementEvent::Kind::kCtaEnd, static_cast<uint16_t>(warp.cta)});
  }
}

void count_placed(Sm& sm, int launch, uint64_t ctas) {
  if (ctas == 0) return;
  sm.state().count_placed(launch, ctas);
}

std::optional<int> held_back_by(const Sm& sm, int launch, Cycle now) {
  const SmState& state = sm.state();
  const auto parts = [&](const SmLaunch& each) { return each.epoch == state.launches[launch].epoch && each.any(); };
  if (std::ranges::any_of(state.launches, parts)) return std::nullopt;
  for (const int earlier : sm.placement_order()) {
    if (earlier == launch) break;
    if (state.progress[earlier].ready <= now && state.ctas_left(earlier)) return earlier;
  }
  return std::nullopt;
}

bool active(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  return state.progress[launch].ready <= state.now && !state.launch_done(launch);
}

// True if the resource has room for `need` units of `launch`. A reservation bounds its launch in the resources that it
// names, and keeps other launches out of them, as long as both have CTAs left.
bool fits_resource(const Sm& sm, int launch, uint32_t need, uint32_t capacity, uint32_t HeldResources::* held,
                   uint32_t SmLaunch::* reserved) {
  const SmState& state = sm.state();
  const SmLaunch& own = state.launches[launch];
  const bool bound = own.reserved && own.*reserved > 0 && others_left(sm, launch);
  if (bound && state.held[launch].*held + need > own.*reserved) return false;
  uint32_t used = 0;
  for (size_t other = 0; other < state.launches.size(); ++other) {
    const bool keeps =
        !bound && state.launches[other].reserved && active(sm, static_cast<int>(other)) && static_cast<int>(other) != launch;
    used += keeps ? std::max(state.launches[other].*reserved, state.held[other].*held) : state.held[other].*held;
  }
  return used + need <= capacity;
}

// A launch that is alone may fill the SM, since both published schemes divide an SM anew when a kernel comes or ends.
bool fits_quota(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  const SmQuota& quota = state.launches[launch].quota;
  if (!quota.bounds() || !others_left(sm, launch)) return true;
  const Footprint& need = state.launches[launch].image->footprint;
  const HeldResources& held = state.held[launch];
  const auto within = [](uint64_t amount, uint32_t bound) { return bound == 0 || amount <= bound; };
  return within(state.progress[launch].running + 1, quota.ctas) && within(held.warps + need.warps, quota.warps) &&
         within(held.registers + need.registers, quota.registers);
}

// No policy reserves tensor memory.
bool tensor_memory_fits(const Sm& sm, int launch) {
  uint32_t used = sm.state().launches[launch].image->footprint.tensor_memory;
  for (const HeldResources& held : sm.state().held) used += held.tensor_memory;
  return used <= sm.spec().tensor_memory_columns;
}

bool fits(const Sm& sm, int launch) {
  const SmState& state = sm.state();
  const Footprint& need = state.launches[launch].image->footprint;
  return std::ranges::any_of(state.ctas, [](const Cta& cta) { return !cta.resident; }) && fits_quota(sm, launch) &&
         fits_resource(sm, launch, need.registers, sm.spec().registers, &HeldResources::registers, &SmLaunch::reserved_registers) &&
         fits_resource(sm, launch, need.shared_memory, sm.spec().shared_memory_bytes, &HeldResources::shared_memory,
                       &SmLaunch::reserved_shared_memory) &&
         tensor_memory_fits(sm, launch) &&
         fits_resource(sm, launch, need.warps, sm.spec().warp_slots, &HeldResources::warps, &SmLaunch::reserved_warps) &&
         find_slots(sm, need.warps).has_value();
}

std::optional<std::vector<WarpSlot>> find_slots(const Sm& sm, uint32_t warps) {
  const SmState& state = sm.state();
  const auto cores = static_cast<uint32_t>(state.sub_cores.size());
  std::vector<std::vector<WarpSlot>> free(cores);
  for (uint32_t s = 0; s < state.slot_taken.size(); ++s) {
    if (!state.slot_taken[s]) free[s % cores].push_back(WarpSlot{s});
  }
  std::vector<uint32_t> counts;
  for (const std::vector<WarpSlot>& slots : free) counts.push_back(static_cast<uint32_t>(slots.size()));
  const uint32_t first = first_sub_core(counts, warps);
  std::vector<size_t> used(cores, 0);
  std::vector<WarpSlot> slots;
  for (uint32_t w = 0; w < warps; ++w) {
    const uint32_t core = (first + w) % cores;
    if (used[core] == free[core].size()) return std::nullopt;
    slots.push_back(free[core][used[core]++]);
  }
  return slots;
}

}  // namespace warpfold::sim
