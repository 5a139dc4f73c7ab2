// What a jump takes from what the launches have left.
#include <algorithm>
#include <numeric>

#include "sim/fold/extrapolator.h"
#include "sim/fold/link.h"

namespace warpfold::sim {
namespace {

constexpr uint64_t kTripsKept = 2;    // of every loop that trips are taken from
constexpr uint64_t kTripsAstray = 8;  // assumed: how far warps may be from where they would be when none is left to place

__extension__ using Wide = unsigned __int128;

}  // namespace

// As for exact folding, with the trips of tied warps alone.
uint64_t Extrapolator::bound_by_ties(const Sample& from, Skip& skip) const {
  const SavedState& before = from.state;
  const SavedState& after = samples_.back().state;
  std::vector<size_t> earlier;  // headers of tied warps
  for (size_t i = 0; i < before.trips.size(); i += 3 + before.trips[i + 2]) {
    if (tied_[before.trips[i + 1]]) earlier.push_back(i);
  }
  uint64_t periods = kUnbounded;
  size_t next = 0;
  for (size_t i = 0; i < after.trips.size(); i += 3 + after.trips[i + 2]) {
    if (!tied_[after.trips[i + 1]]) continue;
    const size_t same = earlier.at(next++);
    const bool same_warp = before.trips[same] == after.trips[i];
    std::vector<uint64_t> consumed;
    periods = std::min(periods, bound_by_warp(before.trips.data() + same + 3, after.trips.data() + i + 3, same_warp,
                                              after.trips[i + 2], consumed));
    if (periods == 0) return 0;
    std::ranges::copy(consumed, skip.trips_taken.begin() + static_cast<ptrdiff_t>(i) + 3);
  }
  for (size_t l = 0; l < tied_.size(); ++l) {
    if (tied_[l]) periods = std::min(periods, bound_by_ctas(sm_->launches()[l].ctas, before.placed[l], after.placed[l]));
  }
  return periods;
}

// Every warp is in the loop in which it was.
uint64_t Extrapolator::bound_by_rounds(const Sample& from, Skip& skip) const {
  const Sample& to = samples_.back();
  if (from.loops != to.loops || from.rounds_left <= to.rounds_left) return 0;
  const uint64_t rounds = from.rounds_left - to.rounds_left;
  uint64_t periods = kUnbounded;
  size_t next = 0;
  const std::vector<uint64_t>& trips = to.state.trips;
  for (size_t i = 0; i < trips.size(); i += 3 + trips[i + 2]) {
    if (!tied_[trips[i + 1]] || to.loops[next++] == nullptr) continue;
    periods = std::min(periods, (trips[i + 3] - 1) / rounds);
    skip.trips_taken[i + 3] = rounds;
  }
  return periods;
}

// One trip of the outermost loop, of all warps.
Work Extrapolator::work_of_round(int launch) {
  Work work;
  for_each_warp([&](const Warp& warp) {
    if (warp.launch == launch && !warp.exited) work = work + work_[launch].of_trip(warp, sm_->cta(warp.cta).cta_class, 0);
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
uint64_t Extrapolator::bound_by_free_launch(const Sample& from, int launch) {
  const Sample& to = samples_.back();
  const uint64_t done = to.launches[launch].instructions - from.launches[launch].instructions;
  if (done == 0) return kUnbounded;
  if (sm_->ctas_left(launch))
    return work_not_placed(work_[launch], sm_->launches()[launch].ctas, sm_->ctas_placed(launch)).instructions / done;
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
    const Work trip = work_[launch].of_trip(warp, sm_->cta(warp.cta).cta_class, 0);
    periods = std::min(periods, spare * trip.instructions / got_on);
  });
  return periods;
}

// Whole CTAs of at most `instructions` together, never the last one.
Work Extrapolator::take_ctas(int launch, uint64_t instructions, Jump& jump) {
  const std::vector<traces::CtaRun>& runs = sm_->launches()[launch].ctas;
  uint64_t left = 0;
  for (const traces::CtaRun& run : runs) left += run.count;
  left -= sm_->ctas_placed(launch);
  Work taken;
  uint64_t first = 0;
  for (const traces::CtaRun& run : runs) {
    const uint64_t placed = sm_->ctas_placed(launch) + jump.skip.placed[launch];
    const uint64_t in_run = run.count - (std::clamp(placed, first, first + run.count) - first);
    const Work cta = work_[launch].of_cta(run.cta_class);
    const uint64_t ctas = std::min({in_run, left - 1, (instructions - taken.instructions) / cta.instructions});
    jump.skip.placed[launch] += ctas;
    taken = taken + cta * ctas;
    left -= ctas;
    first += run.count;
    if (ctas < in_run) break;
  }
  return taken;
}

// First from every warp what it would have done itself, if that is little against what it has left; then whole CTAs; then a trip of
// the warps that would have done most of one, and trips of the youngest. What is taken of a sub-core's warps is what that sub-core
// was measured to do, to within a trip: sub-cores that would end together still do.
Work Extrapolator::take_from_free_launch(const Sample& from, int launch, Jump& jump) {
  const Sample& to = samples_.back();
  const uint64_t periods = jump.skip.periods;
  const bool ctas_left = sm_->ctas_left(launch);
  struct Spare {
    uint64_t serial = 0;
    uint64_t trips = 0;
    uint64_t rest = 0;  // instructions that it would have done beyond whole trips
    Work trip;
    size_t at = 0;  // in trips_taken
  };
  std::vector<std::vector<Spare>> spares(sm_->sub_cores());
  std::vector<uint64_t> wanted;
  for (int c = 0; c < sm_->sub_cores(); ++c) wanted.push_back(periods * (to.issued[launch][c] - from.issued[launch][c]));
  Work taken;
  const auto take = [&](size_t sub_core, Spare& spare, uint64_t trips) {
    jump.skip.trips_taken[spare.at] += trips;
    taken = taken + spare.trip * trips;
    wanted[sub_core] -= spare.trip.instructions * trips;
    spare.trips -= trips;
  };
  uint64_t one_trip_each = 0;
  size_t at = 0;
  for_each_warp([&](const Warp& warp) {
    at += 3;
    const size_t place = at;
    at += warp.op->depth;
    if (warp.launch != launch || spare_trips(warp) == 0) return;
    const size_t sub_core = static_cast<size_t>(sm_->cta(warp.cta).warp_slots[warp.index_in_cta]) % wanted.size();
    const Work trip = work_[launch].of_trip(warp, sm_->cta(warp.cta).cta_class, 0);
    one_trip_each += trip.instructions;
    jump.coarsest[launch] = std::max(jump.coarsest[launch], trip.cycles);
    Spare spare{warp.serial, spare_trips(warp), 0, trip, place};
    const auto before = std::ranges::lower_bound(from.warps, warp.serial, {}, &WarpSample::serial);
    const auto after = std::ranges::lower_bound(to.warps, warp.serial, {}, &WarpSample::serial);
    if (before != from.warps.end() && before->serial == warp.serial) {
      const uint64_t instructions = periods * (before->left.instructions - after->left.instructions);
      const uint64_t trips = instructions / spare.trip.instructions;
      const uint64_t most = ctas_left ? spare.trips / 2 : spare.trips;
      if (trips <= most && trips * spare.trip.instructions <= wanted[sub_core]) {
        take(sub_core, spare, trips);
        spare.rest = instructions % spare.trip.instructions;
      }
    }
    spares[sub_core].push_back(spare);
  });
  if (ctas_left) {
    const uint64_t all = std::accumulate(wanted.begin(), wanted.end(), uint64_t{0});
    const Work ctas = take_ctas(launch, all, jump);
    taken = taken + ctas;
    for (uint64_t& part : wanted) {
      if (all > 0) part -= static_cast<uint64_t>(static_cast<Wide>(ctas.instructions) * part / all);
    }
    jump.corrections[launch].ctas = jump.skip.placed[launch] - periods * (to.ctas_done[launch] - from.ctas_done[launch]);
  }
  if (!ctas_left) {
    // Every warp may be some trips ahead or behind where it would be, and at the end nobody takes its place.
    const uint64_t done = to.launches[launch].instructions - from.launches[launch].instructions;
    if (done > 0) jump.coarsest[launch] = std::max<Cycle>(jump.coarsest[launch], kTripsAstray * one_trip_each * jump.period / done);
  }
  for (size_t c = 0; c < wanted.size(); ++c) {
    std::ranges::sort(spares[c], std::ranges::greater{}, &Spare::rest);
    for (Spare& spare : spares[c])
      take(c, spare, spare.rest == 0 || spare.trips == 0 || wanted[c] < spare.trip.instructions ? 0 : 1);
    std::ranges::sort(spares[c], std::ranges::greater{}, &Spare::serial);
    for (Spare& spare : spares[c]) take(c, spare, std::min(spare.trips, wanted[c] / spare.trip.instructions));
  }
  return taken;
}

}  // namespace warpfold::sim
