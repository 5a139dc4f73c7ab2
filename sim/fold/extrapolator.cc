#include "sim/fold/extrapolator.h"

#include <algorithm>
#include <numeric>

#include "sim/fold/link.h"

namespace warpfold::sim {
namespace {

constexpr size_t kLeastBatches = 16;
constexpr size_t kMostSamples = 64;             // then every second one goes: batches of twice the length
constexpr Cycle kShortestBatch = 512;           // cycles
constexpr uint64_t kPatience = 20000;           // loop ends after which another anchor is tried
constexpr uint64_t kTripsKept = 2;              // of every loop that trips are taken from
constexpr double kOccupancyError = 0.003;       // relative, of resident warp-cycles
constexpr double kOccupancyErrorAtLast = 0.02;  // the same when so many instructions have been measured:
constexpr uint64_t kMeasuredLong = 2'000'000;
// Shares of a launch's cycles between which a jump saves too little for what it may do to the order of what is left.
constexpr double kNegligibleShare = 0.002;
constexpr double kWorthwhileShare = 0.1;
constexpr double kGenerations = 2;
constexpr uint64_t kTripsAstray = 8;  // assumed: how far warps may be from where they would be when none is left to place
constexpr uint64_t kUnbounded = ~uint64_t{0};

__extension__ using Wide = unsigned __int128;

uint64_t sum_of(const std::map<Place, uint64_t>& waits) {
  uint64_t sum = 0;
  for (const auto& [place, cycles] : waits) sum += cycles;
  return sum;
}

}  // namespace

Extrapolator::Extrapolator(Sm& sm, double error) : sm_(&sm), error_(error) {
  for (const SmLaunch& launch : sm.launches()) {
    work_.emplace_back(*launch.image);
    tied_.push_back(launch.image->tied);
    spent_.push_back(0);
  }
}

void Extrapolator::restart() {
  samples_.clear();
  anchor_.clear();
  missed_ = 0;
  batch_ = kShortestBatch;
}

uint64_t Extrapolator::all_work() {
  uint64_t instructions = 0;
  for (size_t l = 0; l < work_.size(); ++l) {
    for (const traces::CtaRun& run : sm_->launches()[l].ctas)
      instructions += work_[l].of_cta(run.cta_class).instructions * run.count;
  }
  return instructions;
}

// In the order in which a skip meets their trips.
template <typename Visit>
void Extrapolator::for_each_warp(Visit visit) {
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (int slot = 0; slot < sm_->sub_core(c).slots(); ++slot) {
      Warp& warp = sm_->sub_core(c).warp(slot);
      if (warp.resident) visit(warp);
    }
  }
}

// ---- measuring

// Which launches are there, whether they have CTAs left to place, and if not, how many of their warps still run.
std::vector<uint64_t> Extrapolator::phase() {
  std::vector<uint64_t> phase(tied_.size(), 0);
  for_each_warp([&](const Warp& warp) { phase[warp.launch] += warp.exited ? 0 : 1; });
  for (size_t l = 0; l < tied_.size(); ++l) {
    if (sm_->ctas_left(static_cast<int>(l))) phase[l] = kUnbounded - (phase[l] > 0);
  }
  return phase;
}

// Tied warps stand where they stood, with the same trips left of all loops but the outermost; where CTAs replace each other, of
// that as well.
bool Extrapolator::at_anchor(Cycle now) {
  SavedState places;
  StateVisitor visitor(places, now);
  sm_->visit_ties(visitor, tied_);
  std::vector<uint64_t>& key = places.key;
  for (size_t i = 0; i < places.trips.size();) {
    const bool outermost_counts = sm_->ctas_left(static_cast<int>(places.trips[i + 1]));
    const uint64_t depth = places.trips[i + 2];
    i += 3;
    for (uint64_t d = outermost_counts ? 0 : 1; d < depth; ++d) key.push_back(places.trips[i + d]);
    i += depth;
  }
  if (samples_.empty()) {
    anchor_ = std::move(key);
    return true;
  }
  if (key == anchor_) {
    missed_ = 0;
    return now >= samples_.back().state.at + batch_;
  }
  if (++missed_ > kPatience || (samples_.size() == 1 && missed_ > kPatience / 16)) restart();
  return false;
}

void Extrapolator::add_sample(Cycle now) {
  if (samples_.size() == kMostSamples) {
    for (size_t i = 0; i < kMostSamples / 2; ++i) samples_[i] = std::move(samples_[2 * i + 1]);
    samples_.resize(kMostSamples / 2);
    batch_ *= 2;
  }
  Sample& sample = samples_.emplace_back();
  StateVisitor visitor(sample.state, now);
  sm_->visit(visitor);
  sample.state.instructions = sm_->instructions();
  for_each_warp([&](const Warp& warp) {
    if (!tied_[warp.launch]) sample.warps.push_back({warp.serial, work_[warp.launch].left(warp, sm_->cta(warp.cta).cta_class)});
  });
  std::ranges::sort(sample.warps, {}, &WarpSample::serial);
  sample.waiting.resize(tied_.size());
  for_each_warp([&](const Warp& warp) {
    auto& waiting = sample.waiting[warp.launch];
    if (warp.exited) waiting[{warp.row, WarpState::kDrain}] += now - (warp.last_issue + 1);
    // A wait for the wgmma FIFO is charged to its holders when it ends, and not before.
    if (warp.blocked && warp.reason != WarpState::kMathPipeThrottle) waiting[{warp.waiting_row, warp.reason}] += now - warp.since;
  });
  for (size_t l = 0; l < tied_.size(); ++l) {
    sample.launches.push_back(sm_->account().launch(static_cast<int>(l)));
    sample.states.push_back(sm_->account().cycles_of(static_cast<int>(l)));
    sample.ctas_done.push_back(sm_->ctas_done(static_cast<int>(l)));
    std::vector<uint64_t>& issued = sample.issued.emplace_back();
    for (int c = 0; c < sm_->sub_cores(); ++c) issued.push_back(sm_->sub_core(c).issued(static_cast<int>(l)));
  }
}

bool Extrapolator::watch(Cycle now) {
  if (auto current = phase(); current != phase_) {
    phase_ = std::move(current);
    restart();
  }
  if (!at_anchor(now)) return false;
  add_sample(now);
  return true;
}

std::vector<Batch> Extrapolator::batches(size_t first, int launch) const {
  std::vector<Batch> result;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const uint64_t done = samples_[i + 1].launches[launch].instructions - samples_[i].launches[launch].instructions;
    const Cycle cycles = samples_[i + 1].state.at - samples_[i].state.at;
    result.push_back({static_cast<double>(done), static_cast<double>(cycles)});
  }
  return result;
}

// A CTA keeps its place until the last of its warps has ended; how many warps are there on average shows when as many CTAs as fit
// have come and gone kGenerations times. Then resident warp-cycles, of which the waits are made, may leave open kOccupancyError;
// they come and go in long waves, for which a long run does not wait.
bool Extrapolator::occupancy_settled(size_t first, int launch, double share) const {
  if (tied_[launch] || !sm_->ctas_left(launch)) return true;
  const uint64_t gone = samples_.back().ctas_done[launch] - samples_[first].ctas_done[launch];
  if (gone == 0 && samples_.back().launches[launch].instructions == samples_[first].launches[launch].instructions) return true;
  if (static_cast<double>(gone) < share * kGenerations * static_cast<double>(sm_->ctas_running(launch))) return false;
  std::vector<Batch> measured;
  for (size_t i = first; i + 1 < samples_.size(); ++i) {
    const auto resident = [&](const Sample& sample) { return sample.states[launch] + sum_of(sample.waiting[launch]); };
    measured.push_back({static_cast<double>(resident(samples_[i + 1]) - resident(samples_[i])),
                        static_cast<double>(samples_[i + 1].state.at - samples_[i].state.at)});
  }
  const uint64_t instructions = samples_.back().launches[launch].instructions - samples_[first].launches[launch].instructions;
  const double most = instructions < kMeasuredLong ? kOccupancyError : kOccupancyErrorAtLast;
  return share * relative_uncertainty(measured) <= most && share * relative_drift(measured) <= most;
}

// What the rates leave open may come to half of the error, over all jumps of a launch together; the rest is for what a
// jump cannot take in whole pieces: a trip of a warp. A jump leaves a fifth of it to those that its launch may need later.
bool Extrapolator::agree(size_t first, const Jump& jump) const {
  const Cycle now = samples_.back().state.at;
  for (size_t l = 0; l < tied_.size(); ++l) {
    const std::vector<Batch> measured = batches(first, static_cast<int>(l));
    const double open = relative_uncertainty(measured) * static_cast<double>(jump.skip.cycles);
    const double drift = relative_drift(measured) * static_cast<double>(jump.skip.cycles);
    const auto cycles = static_cast<double>(now - std::min(now, sm_->launch_start(static_cast<int>(l))) + jump.skip.cycles);
    const double part = static_cast<double>(jump.skip.cycles) / cycles;
    if (part > kNegligibleShare && part < kWorthwhileShare) return false;
    const double budget = error_ / 2 * cycles - spent_[l];
    if (static_cast<double>(jump.coarsest[l]) > error_ / 4 * cycles) return false;
    if (!occupancy_settled(first, static_cast<int>(l), static_cast<double>(jump.skip.cycles) / cycles)) return false;
    if (open > budget * 4 / 5 || drift > budget) return false;
  }
  return true;
}

// ---- jumping

// Later samples leave less for the end of the phase; the first quarter may still belong to what was before.
Extrapolator::Jump Extrapolator::plan(Cycle limit) {
  const size_t warm_up = samples_.size() / 4;
  Jump best;
  if (samples_.size() - warm_up <= kLeastBatches) return best;
  for (size_t first = warm_up; first + kLeastBatches < samples_.size(); first += kLeastBatches / 4) {
    Jump jump = plan_from(samples_[first], limit);
    jump.first = first;
    if (jump.skip.cycles > best.skip.cycles && agree(first, jump)) best = std::move(jump);
  }
  return best;
}

Extrapolator::Jump Extrapolator::plan_from(const Sample& from, Cycle limit) {
  const Sample& to = samples_.back();
  Jump jump;
  Skip& skip = jump.skip;
  jump.period = to.state.at - from.state.at;
  jump.coarsest.assign(tied_.size(), 0);
  uint64_t periods = limit == kNever ? kUnbounded : limit > to.state.at ? (limit - to.state.at) / jump.period : 0;
  skip.trips_taken.assign(to.state.trips.size(), 0);
  periods = std::min(periods, bound_by_ties(from, skip));
  for (size_t l = 0; l < tied_.size(); ++l) {
    if (!tied_[l]) periods = std::min(periods, bound_by_free_launch(from, static_cast<int>(l)));
  }
  if (periods == 0 || periods == kUnbounded) return {};
  skip.periods = periods;
  skip.cycles = periods * jump.period;
  skip.moment_moves.assign(to.state.moments.size(), 1);
  count(from.state, to.state, skip);
  for (uint64_t& trips : skip.trips_taken) trips *= periods;
  for (size_t l = 0; l < tied_.size(); ++l) {
    skip.placed.push_back(tied_[l] ? periods * (to.state.placed[l] - from.state.placed[l]) : 0);
    const LaunchAccount& before = from.launches[l];
    const LaunchAccount& after = to.launches[l];
    Work taken = Work{after.instructions - before.instructions, after.l2_requested_bytes - before.l2_requested_bytes} * periods;
    Correction& correction = jump.corrections.emplace_back();
    if (!tied_[l]) {
      const Work measured = taken;
      taken = take_from_free_launch(from, static_cast<int>(l), jump);
      correction.instructions = taken.instructions - measured.instructions;
      correction.requested_bytes = taken.bytes - measured.bytes;
    }
    jump.instructions += taken.instructions;
    correction.served_bytes = taken.bytes - periods * (after.l2_served_bytes - before.l2_served_bytes);
    for (const auto& [place, cycles] : to.waiting[l]) correction.waits[place] += periods * cycles;
    for (const auto& [place, cycles] : from.waiting[l]) correction.waits[place] -= periods * cycles;
    const uint64_t waits = sum_of(correction.waits);
    correction.resident_warp_cycles = periods * (to.states[l] - from.states[l]) + waits + correction.instructions -
                                      periods * (after.resident_warp_cycles - before.resident_warp_cycles);
  }
  return jump;
}

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

void Extrapolator::make(const Jump& jump) {
  for (size_t l = 0; l < tied_.size(); ++l) {
    const std::vector<Batch> measured = batches(jump.first, static_cast<int>(l));
    spent_[l] += relative_uncertainty(measured) * static_cast<double>(jump.skip.cycles);
  }
  sm_->move_on(jump.skip, false);
  for (size_t l = 0; l < jump.corrections.size(); ++l) sm_->correct(static_cast<int>(l), jump.corrections[l]);
  restart();
}

}  // namespace warpfold::sim
