// What a jump takes from what the launches have left.
#include <algorithm>

#include "sim/fold/extrapolator.h"
#include "sim/fold/link.h"

namespace warpfold::sim {
namespace {

constexpr uint64_t kTripsKept = 2;    // of every loop that trips are taken from
constexpr uint64_t kTripsAstray = 8;  // assumed: how far warps may be from where they would be when none is left to place

__extension__ using Wide = unsigned __int128;

}  // namespace

// As for exact folding, with the trips of coupled warps alone.
uint64_t Extrapolator::bound_by_ties(const Sample& from, FastForward& skip) const {
  const Snapshot& before = from.state;
  const Snapshot& after = samples_.back().state;
  std::vector<size_t> earlier;  // headers of coupled warps
  for (size_t i = 0; i < before.trips.size(); i += 3 + before.trips[i + 2]) {
    if (coupled_[before.trips[i + 1]]) earlier.push_back(i);
  }
  uint64_t periods = kUnbounded;
  size_t next = 0;
  for (size_t i = 0; i < after.trips.size(); i += 3 + after.trips[i + 2]) {
    if (!coupled_[after.trips[i + 1]]) continue;
    const size_t same = earlier.at(next++);
    const bool same_warp = before.trips[same] == after.trips[i];
    std::vector<uint64_t> consumed;
    periods = std::min(periods, bound_by_warp(before.trips.data() + same + 3, after.trips.data() + i + 3, same_warp,
                                              after.trips[i + 2], consumed));
    if (periods == 0) return 0;
    std::ranges::copy(consumed, skip.trips_taken.begin() + static_cast<ptrdiff_t>(i) + 3);
  }
  for (size_t l = 0; l < coupled_.size(); ++l) {
    if (coupled_[l]) periods = std::min(periods, bound_by_ctas(sm_->launches()[l].ctas, before.placed[l], after.placed[l]));
  }
  return periods;
}

// Every warp is in the loop in which it was.
uint64_t Extrapolator::bound_by_rounds(const Sample& from, FastForward& skip) const {
  const Sample& to = samples_.back();
  if (from.loops != to.loops || from.rounds_left <= to.rounds_left) return 0;
  const uint64_t rounds = from.rounds_left - to.rounds_left;
  uint64_t periods = kUnbounded;
  size_t next = 0;
  const std::vector<uint64_t>& trips = to.state.trips;
  for (size_t i = 0; i < trips.size(); i += 3 + trips[i + 2]) {
    if (!coupled_[trips[i + 1]] || to.loops[next++] == nullptr) continue;
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
  uint64_t left = count_of(runs) - sm_->ctas_placed(launch);
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

// What is taken of a free launch's warps on one sub-core: what it was measured to do, to within a trip, so that sub-cores that
// would end together still do.
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
Work Extrapolator::take_from_free_launch(const Sample& from, int launch, Jump& jump) {
  const Sample& to = samples_.back();
  const uint64_t periods = jump.skip.periods;
  std::vector<Share> shares;
  for (int c = 0; c < sm_->sub_cores(); ++c) shares.push_back({periods * (to.issued[launch][c] - from.issued[launch][c])});
  uint64_t one_trip_each = 0;
  size_t at = 0;
  for_each_warp([&](const Warp& warp) {
    at += 3;
    const size_t place = at;
    at += warp.op->depth;
    if (warp.launch != launch || spare_trips(warp) == 0) return;
    const Work trip = work_[launch].of_trip(warp, sm_->cta(warp.cta).cta_class, 0);
    one_trip_each += trip.instructions;
    jump.coarsest[launch] = std::max(jump.coarsest[launch], trip.cycles);
    const auto before = std::ranges::lower_bound(from.warps, warp.serial, {}, &WarpSample::serial);
    const auto after = std::ranges::lower_bound(to.warps, warp.serial, {}, &WarpSample::serial);
    const bool was_there = before != from.warps.end() && before->serial == warp.serial;
    const uint64_t own = was_there ? periods * (before->left.instructions - after->left.instructions) : 0;
    const size_t sub_core = static_cast<size_t>(sm_->cta(warp.cta).warp_slots[warp.index_in_cta]) % shares.size();
    shares[sub_core].spares.push_back({warp.serial, spare_trips(warp), own, trip, place});
  });
  Work taken;
  if (sm_->ctas_left(launch)) {
    uint64_t all = 0;
    for (const Share& share : shares) all += share.wanted;
    taken = take_ctas(launch, all, jump);
    for (Share& share : shares) {
      if (all > 0) share.wanted -= static_cast<uint64_t>(static_cast<Wide>(taken.instructions) * share.wanted / all);
      share.take_evenly();
    }
    jump.corrections[launch].ctas = jump.skip.placed[launch] - periods * (to.ctas_done[launch] - from.ctas_done[launch]);
  } else {
    for (Share& share : shares) share.take_their_own();
    // Every warp may be some trips ahead or behind where it would be, and at the end nobody takes its place.
    const uint64_t done = to.launches[launch].instructions - from.launches[launch].instructions;
    if (done > 0) jump.coarsest[launch] = std::max<Cycle>(jump.coarsest[launch], kTripsAstray * one_trip_each * jump.period / done);
  }
  for (Share& share : shares) {
    share.take_from_the_youngest();
    taken = taken + share.taken;
    for (const Spare& spare : share.spares) jump.skip.trips_taken[spare.at] += spare.taken;
  }
  return taken;
}

}  // namespace warpfold::sim
