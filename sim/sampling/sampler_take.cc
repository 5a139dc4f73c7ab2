// What an extrapolation takes from what the launches have left.
#include <algorithm>
#include <functional>
#include <iterator>
#include <span>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sampling/sampler.h"
#include "sim/sm/sm_snapshot.h"

namespace warpfold::sim {
namespace {

// Batches that a window has at least: Student's t allows for few of them, but not for batches that depend on each other, which
// show when they are joined.
constexpr size_t kLeastBatches = 8;
constexpr uint64_t kTripsKept = 2;  // of every loop that trips are taken from
constexpr uint64_t kTripDrift = 8;  // assumed: how far warps may be from where they would be when none is left to place

__extension__ using Wide = unsigned __int128;

}  // namespace

// The longest extrapolation that a window allows; none where every window has a closed gate (by.periods is 0). Later samples leave
// less for the end of the phase; the first quarter may still belong to what was before.
Sampler::Extrapolation Sampler::plan(Cycle limit) {
  const size_t warm_up = samples_.size() / 4;
  Extrapolation best;
  blocking_gate_ = SamplingGate::kFewBatches;
  for (size_t first = warm_up; first + kLeastBatches < samples_.size(); first += kLeastBatches / 4) {
    Extrapolation extrapolation;
    SamplingGate gate = plan_window(first, limit, extrapolation);
    if (gate == SamplingGate::kOpen) {
      if (extrapolation.by.cycles <= best.by.cycles) continue;
      gate = gate_of_work(first, extrapolation);
      if (gate == SamplingGate::kOpen) best = std::move(extrapolation);
    }
    blocking_gate_ = std::max(blocking_gate_, gate);
  }
  if (best.by.periods > 0) blocking_gate_ = SamplingGate::kOpen;
  return best;
}

// Fills in what the window allows to take; the gate that is closed, if any.
SamplingGate Sampler::plan_window(size_t first, Cycle limit, Extrapolation& extrapolation) {
  const Sample& from = samples_[first];
  const Sample& to = samples_.back();
  FastForward& by = extrapolation.by;
  const Cycle period = to.state.at - from.state.at;
  extrapolation.first = first;
  extrapolation.period = period;
  extrapolation.coarsest.assign(coupled_.size(), 0);
  by.trips_taken.assign(to.state.trips.left.size(), 0);
  const uint64_t left = bound_by_launches(from, by);
  if (left == 0 || left == kUnbounded) return SamplingGate::kNothingLeftToTake;
  const uint64_t in_time = limit == kNever ? left : limit > to.state.at ? (limit - to.state.at) / period : 0;
  const uint64_t periods = std::min(left, in_time);
  if (periods == 0) return SamplingGate::kNothingLeftToTake;
  // What may not be taken at once may not be taken by pieces either, which all rest on the same belief.
  for (const uint64_t each : {left, periods}) {
    const SamplingGate gate = gate_of_rates(first, each * period);
    if (gate != SamplingGate::kOpen) return gate;
  }
  by.periods = periods;
  by.cycles = periods * period;
  by.moments.assign(to.state.moments.size(), by.cycles);
  count(from.state, to.state, by);
  for (uint64_t& trips : by.trips_taken) trips *= periods;
  for (size_t l = 0; l < coupled_.size(); ++l) take_from_launch(from, static_cast<int>(l), extrapolation);
  return SamplingGate::kOpen;
}

// Periods that what the launches have left allows.
uint64_t Sampler::bound_by_launches(const Sample& from, FastForward& by) {
  uint64_t periods = pacer_ ? bound_by_rounds(from, by) : bound_by_couplings(from, by);
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (!coupled_[l]) periods = std::min(periods, bound_by_uncoupled_launch(from, static_cast<int>(l)));
  }
  return periods;
}

// Appends what is taken from the launch, and what its account gets besides.
void Sampler::take_from_launch(const Sample& from, int launch, Extrapolation& extrapolation) {
  const Sample& to = samples_.back();
  const uint64_t periods = extrapolation.by.periods;
  const LaunchAccount& before = from.launches[launch];
  const LaunchAccount& after = to.launches[launch];
  extrapolation.by.placed.push_back(coupled_[launch] ? periods * (to.state.placed[launch] - from.state.placed[launch]) : 0);
  const Work measured = Work{after.instructions - before.instructions, after.requested_bytes - before.requested_bytes} * periods;
  Work taken = measured;
  Correction& correction = extrapolation.corrections.emplace_back();
  if (!coupled_[launch]) taken = take_from_uncoupled_launch(from, launch, extrapolation);
  if (pacer_ && pacer_->launch == launch) taken = work_of_round(launch) * ((from.rounds_left - to.rounds_left) * periods);
  extrapolation.instructions += taken.instructions;
  correction.instructions = taken.instructions - measured.instructions;
  correction.requested_bytes = taken.bytes - measured.bytes;
  correction.served_bytes = taken.bytes - periods * (after.served_bytes - before.served_bytes);
  for (const auto& [cell, cycles] : to.waiting[launch]) correction.waits[cell] += periods * cycles;
  for (const auto& [cell, cycles] : from.waiting[launch]) correction.waits[cell] -= periods * cycles;
  correction.resident_warp_cycles = periods * (to.states[launch] - from.states[launch]) + sum_of(correction.waits) +
                                    correction.instructions - periods * (after.resident_warp_cycles - before.resident_warp_cycles);
}

void Sampler::apply(const Extrapolation& extrapolation) {
  for (size_t l = 0; l < coupled_.size(); ++l) spent_[l] += left_open(extrapolation.first, static_cast<int>(l), extrapolation);
  skipped_ += extrapolation.by.cycles;
  move_on(*sm_, extrapolation.by, false);
  for (size_t l = 0; l < extrapolation.corrections.size(); ++l) correct(*sm_, static_cast<int>(l), extrapolation.corrections[l]);
  restart();
}

// ---- what bounds it

// As for a recurrence, with the trips of coupled warps alone.
uint64_t Sampler::bound_by_couplings(const Sample& from, FastForward& by) const {
  const Snapshot& before = from.state;
  const Snapshot& after = samples_.back().state;
  const auto is_coupled = [&](const Trips::OfWarp& warp) { return coupled_[warp.launch]; };
  std::vector<Trips::OfWarp> earlier;
  std::ranges::copy_if(before.trips.warps, std::back_inserter(earlier), is_coupled);
  uint64_t periods = kUnbounded;
  size_t next = 0;
  for (const Trips::OfWarp& now : after.trips.warps) {
    if (!is_coupled(now)) continue;
    const Trips::OfWarp& then = earlier.at(next++);
    std::vector<uint64_t> consumed;
    periods = std::min(periods, bound_by_warp(before.trips.of(then), after.trips.of(now), then.serial == now.serial, consumed));
    if (periods == 0) return 0;
    std::ranges::copy(consumed, by.trips_taken.begin() + static_cast<ptrdiff_t>(now.first));
  }
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (coupled_[l]) periods = std::min(periods, bound_by_ctas(sm_->state().launches[l].ctas, before.placed[l], after.placed[l]));
  }
  return periods;
}

// Every warp is in the loop in which it was.
uint64_t Sampler::bound_by_rounds(const Sample& from, FastForward& by) const {
  const Sample& to = samples_.back();
  if (from.loops != to.loops || from.rounds_left <= to.rounds_left) return 0;
  const uint64_t rounds = from.rounds_left - to.rounds_left;
  uint64_t periods = kUnbounded;
  size_t next = 0;
  for (const Trips::OfWarp& warp : to.state.trips.warps) {
    if (!coupled_[warp.launch] || to.loops[next++] == nullptr) continue;
    periods = std::min(periods, (to.state.trips.left[warp.first] - 1) / rounds);
    by.trips_taken[warp.first] = rounds;
  }
  return periods;
}

// One trip of the outermost loop, of all warps.
Work Sampler::work_of_round(int launch) {
  Work work;
  for_each_warp([&](const Warp& warp) {
    if (warp.launch == launch && !warp.exited) work = work + work_[launch].of_trip(warp, sm_->state().ctas[warp.cta].cta_class, 0);
  });
  return work;
}

namespace {

// Trips that may be taken from the warp's outermost loop.
uint64_t spare_trips(const Warp& warp) {
  return !warp.exited && warp.op->depth > 0 && warp.trips_left[0] > kTripsKept ? warp.trips_left[0] - kTripsKept : 0;
}

// CTAs from `at` on, except the last one.
Work work_not_placed(WorkTable& table, const std::vector<traces::CtaRun>& runs, uint64_t at) {
  Work work;
  uint64_t first = 0;
  uint32_t last_class = 0;
  for (const traces::CtaRun& run : runs) {
    const uint64_t placed = std::clamp(at, first, first + run.count) - first;
    work = work + table.of_cta(run.cta_class) * (run.count - placed);
    first += run.count;
    last_class = run.cta_class;
  }
  return at < first ? work - table.of_cta(last_class) : Work{};
}

}  // namespace

// A launch that has CTAs to place goes on as it does until it has placed them; one that has none until one of its warps ends.
uint64_t Sampler::bound_by_uncoupled_launch(const Sample& from, int launch) {
  const Sample& to = samples_.back();
  const uint64_t done = to.launches[launch].instructions - from.launches[launch].instructions;
  if (done == 0) return kUnbounded;
  if (sm_->state().ctas_left(launch))
    return work_not_placed(work_[launch], sm_->state().launches[launch].ctas, sm_->state().progress[launch].placed).instructions /
           done;
  uint64_t periods = kUnbounded;
  for_each_warp([&](const Warp& warp) {
    if (warp.launch != launch) return;
    const auto before = std::ranges::lower_bound(from.warps, warp.serial, {}, &WarpSample::serial);
    const auto after = std::ranges::lower_bound(to.warps, warp.serial, {}, &WarpSample::serial);
    if (before == from.warps.end() || before->serial != warp.serial || warp.exited) {
      periods = 0;
      return;
    }
    const uint64_t got_on = before->left.instructions - after->left.instructions;
    if (got_on == 0) return;
    const uint64_t spare = spare_trips(warp);
    if (spare == 0) {
      periods = 0;
      return;
    }
    const Work trip = work_[launch].of_trip(warp, sm_->state().ctas[warp.cta].cta_class, 0);
    periods = std::min(periods, spare * trip.instructions / got_on);
  });
  return periods;
}

// Whole CTAs of at most `instructions` together, never the last one.
Work Sampler::take_ctas(int launch, uint64_t instructions, Extrapolation& extrapolation) {
  const std::vector<traces::CtaRun>& runs = sm_->state().launches[launch].ctas;
  uint64_t left = count_of(runs) - sm_->state().progress[launch].placed;
  Work taken;
  uint64_t first = 0;
  for (const traces::CtaRun& run : runs) {
    const uint64_t placed = sm_->state().progress[launch].placed + extrapolation.by.placed[launch];
    const uint64_t in_run = run.count - (std::clamp(placed, first, first + run.count) - first);
    const Work cta = work_[launch].of_cta(run.cta_class);
    const uint64_t ctas = std::min({in_run, left - 1, (instructions - taken.instructions) / cta.instructions});
    extrapolation.by.placed[launch] += ctas;
    taken = taken + cta * ctas;
    left -= ctas;
    first += run.count;
    if (ctas < in_run) break;
  }
  return taken;
}

namespace {

// Trips that may be taken from a warp.
struct Spare {
  uint64_t serial = 0;
  uint64_t trips = 0;
  uint64_t own = 0;  // instructions that it would have done itself, less those taken
  Work trip;
  size_t at = 0;       // in FastForward::trips_taken
  uint64_t taken = 0;  // trips
};

// What is taken of an uncoupled launch's warps on one sub-core: what it was measured to do, to within a trip, so that sub-cores
// that would end together still do.
struct Share {
  uint64_t wanted = 0;  // instructions
  std::vector<Spare> spares{};
  Work taken{};

  void take(Spare& spare, uint64_t trips) {
    taken = taken + spare.trip * trips;
    wanted -= spare.trip.instructions * trips;
    spare.own -= std::min(spare.own, spare.trip.instructions * trips);
    spare.trips -= trips;
    spare.taken += trips;
  }
  // As many from each, so that they end as far apart as they do now; those with few left leave more to the others.
  void take_evenly() {
    std::ranges::sort(spares, {}, &Spare::trips);
    for (size_t i = 0; i < spares.size(); ++i)
      take(spares[i], std::min(spares[i].trips, wanted / (spares.size() - i) / spares[i].trip.instructions));
  }
  // From each what it would have done itself; then a trip of those that would have done most of one.
  void take_their_own() {
    for (Spare& spare : spares) {
      const uint64_t trips = spare.own / spare.trip.instructions;
      if (trips <= spare.trips && trips * spare.trip.instructions <= wanted) {
        take(spare, trips);
      } else {
        spare.own = 0;
      }
    }
    std::ranges::sort(spares, std::ranges::greater{}, &Spare::own);
    for (Spare& spare : spares) take(spare, spare.own == 0 || spare.trips == 0 || wanted < spare.trip.instructions ? 0 : 1);
  }
  void take_from_the_youngest() {
    std::ranges::sort(spares, std::ranges::greater{}, &Spare::serial);
    for (Spare& spare : spares) take(spare, std::min(spare.trips, wanted / spare.trip.instructions));
  }
};

}  // namespace

// Where CTAs are left, they come and go as they did: whole CTAs are taken of those not placed yet, and less than one from the warps
// there are. Where none is left, warps get on as each of them did.
Work Sampler::take_from_uncoupled_launch(const Sample& from, int launch, Extrapolation& extrapolation) {
  const Sample& to = samples_.back();
  const uint64_t periods = extrapolation.by.periods;
  std::vector<Share> shares;
  for (int c = 0; c < sm_->sub_cores(); ++c) shares.push_back({periods * (to.issued[launch][c] - from.issued[launch][c])});
  uint64_t one_trip_each = 0;
  size_t at = 0;
  for_each_warp([&](const Warp& warp) {
    const size_t place = at;
    at += warp.op->depth;
    if (warp.launch != launch || spare_trips(warp) == 0) return;
    const Work trip = work_[launch].of_trip(warp, sm_->state().ctas[warp.cta].cta_class, 0);
    one_trip_each += trip.instructions;
    extrapolation.coarsest[launch] = std::max(extrapolation.coarsest[launch], trip.cycles);
    const auto before = std::ranges::lower_bound(from.warps, warp.serial, {}, &WarpSample::serial);
    const auto after = std::ranges::lower_bound(to.warps, warp.serial, {}, &WarpSample::serial);
    const bool was_there = before != from.warps.end() && before->serial == warp.serial;
    const uint64_t own = was_there ? periods * (before->left.instructions - after->left.instructions) : 0;
    const int sub_core = sm_->state().place_of(sm_->state().ctas[warp.cta].warp_slots[warp.index_in_cta]).sub_core;
    shares[sub_core].spares.push_back({warp.serial, spare_trips(warp), own, trip, place});
  });
  Work taken;
  if (sm_->state().ctas_left(launch)) {
    uint64_t all = 0;
    for (const Share& share : shares) all += share.wanted;
    taken = take_ctas(launch, all, extrapolation);
    for (Share& share : shares) {
      if (all > 0) share.wanted -= static_cast<uint64_t>(static_cast<Wide>(taken.instructions) * share.wanted / all);
      share.take_evenly();
    }
    extrapolation.corrections[launch].ctas =
        extrapolation.by.placed[launch] - periods * (to.ctas_done[launch] - from.ctas_done[launch]);
  } else {
    for (Share& share : shares) share.take_their_own();
    // Every warp may be some trips ahead or behind where it would be, and at the end no CTA takes its place.
    const uint64_t done = to.launches[launch].instructions - from.launches[launch].instructions;
    if (done > 0)
      extrapolation.coarsest[launch] =
          std::max<Cycle>(extrapolation.coarsest[launch], kTripDrift * one_trip_each * extrapolation.period / done);
  }
  for (Share& share : shares) {
    share.take_from_the_youngest();
    taken = taken + share.taken;
    for (const Spare& spare : share.spares) extrapolation.by.trips_taken[spare.at] += spare.taken;
  }
  return taken;
}

}  // namespace warpfold::sim
