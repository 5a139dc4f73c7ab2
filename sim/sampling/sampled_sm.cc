#include "sim/sampling/sampled_sm.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/memo/recurrence.h"
#include "sim/sampling/batch_means.h"

namespace warpfold::sim {
namespace {

constexpr uint64_t kTripsKept = 2;  // assumed: trips left in every loop from which trips are taken

uint64_t sum_of(const std::map<AccountCell, uint64_t>& waits) {
  uint64_t sum = 0;
  for (const auto& [place, cycles] : waits) sum += cycles;
  return sum;
}

// Returns the correction of a count that grows with bytes: `part` of the `requested` bytes of a window, scaled to the
// `taken` ones, less the `windows` for which it is counted already.
uint64_t in_proportion(uint64_t part, uint64_t taken, uint64_t requested, uint64_t windows) {
  __extension__ using Wide = unsigned __int128;
  return requested == 0 ? 0 : static_cast<uint64_t>(Wide{part} * taken / requested) - part * windows;
}

uint64_t spare_of(uint64_t trips_left) { return trips_left > kTripsKept ? trips_left - kTripsKept : 0; }

// Returns the most trips by which warps of a CTA can be apart: a producer is at most all stages of its ring ahead.
uint64_t most_apart(const traces::Kernel& kernel) {
  uint64_t stages = 1;
  for (const traces::Ring& ring : kernel.rings) stages = std::max<uint64_t>(stages, ring.depth);
  return stages;
}

// Range of a number of trips over the warps of a CTA.
struct Range {
  uint64_t least = UINT64_MAX;
  uint64_t most = 0;
  void add(uint64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

}  // namespace

bool same_residents(const SmSample& one, const SmSample& other, size_t launch) {
  return std::ranges::equal(
      one.residents[launch], other.residents[launch], [](const SmSample::Resident& a, const SmSample::Resident& b) {
        return a.serial == b.serial && a.loop == b.loop && ((a.at != kNever && b.at != kNever) || a.instructions == b.instructions);
      });
}

void SampledSm::Piece::take(uint64_t most, uint64_t& wanted) {
  if (trips == 0) return;
  const uint64_t some = std::min({most, trips, wanted / resident.trip.instructions});
  trips -= some;
  taken += some;
  wanted -= some * resident.trip.instructions;
}

SampledSm::SampledSm(Sm& sm) : sm_(&sm) {
  for (const SmLaunch& launch : sm.state().launches) work_.emplace_back(*launch.image);
}

SampledSm SampledSm::copy_for(Sm& copy) const {
  SampledSm result = *this;
  result.sm_ = &copy;
  result.find_pieces();
  return result;
}

// Visits the resident warps in the order of their trips in FastForward::trips_taken.
template <typename Visit>
void SampledSm::for_each_warp(Visit visit) {
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (int slot = 0; slot < sm_->sub_core(c).slots(); ++slot) {
      Warp& warp = sm_->sub_core(c).warp(slot);
      if (warp.resident) visit(warp);
    }
  }
}

void SampledSm::watch(Cycle now) {
  for (std::vector<Piece>& pieces : pieces_) {
    for (Piece& piece : pieces) {
      const Warp& warp = sm_->sub_core(piece.sub_core).warp(piece.slot);
      if (!warp.resident || warp.serial != piece.warp || warp.exited || warp.op->depth <= piece.depth ||
          &warp.program->loop_around(*warp.op, piece.depth) != piece.resident.loop) {
        piece.resident.at = kNever;
      } else if (warp.trips_left[piece.depth] != piece.trips_left_now) {
        piece.trips_left_now = warp.trips_left[piece.depth];
        piece.resident.trips_left = piece.trips_left_now;
        piece.resident.at = now;
      }
    }
  }
}

// Makes a piece of the warps of one resident. Trips may be taken if the warps go through the loop together. Their trips
// left, and their total trips, must then differ by no more than a ring's stages. Each total must exceed that number, so
// that none is twice another.
SampledSm::Piece SampledSm::piece_of(const std::vector<PlacedWarp>& warps) {
  const SmState& state = sm_->state();
  const Warp& first = *warps.front().first;
  const bool coupled = state.coupled(first.launch);
  const Cta& cta = state.ctas[first.cta];
  const WarpPlace place = state.place_of(cta.warp_slots[first.index_in_cta]);
  Piece piece;
  piece.sub_core = place.sub_core;
  piece.slot = place.slot;
  piece.warp = first.serial;
  piece.resident.serial = coupled ? cta.serial : first.serial;
  for (const auto& [warp, at] : warps) piece.resident.instructions += work_[warp->launch].left(*warp, cta.cta_class).instructions;
  uint32_t deepest = UINT32_MAX;
  for (const auto& [warp, at] : warps) deepest = std::min<uint32_t>(deepest, warp->op->depth);
  if (deepest == 0) return piece;
  const auto range = [&](auto of) {
    Range trips;
    for (const auto& [warp, at] : warps) trips.add(of(*warp));
    return trips;
  };
  const auto left_at = [&](uint32_t depth) { return range([depth](const Warp& warp) { return warp.trips_left[depth]; }); };
  while (piece.depth + 1 < deepest && left_at(piece.depth).least < kLeastBatches + kTripsKept) ++piece.depth;
  const Range left = left_at(piece.depth);
  const Range all =
      range([&](const Warp& warp) { return state.trips(warp, warp.program->loop_around(*warp.op, piece.depth).trips); });
  const uint64_t apart = coupled ? most_apart(*state.launches[first.launch].image->kernel) : 0;
  const bool together = left.most - left.least <= apart && all.most - all.least <= apart && all.least > apart;
  piece.trips = together ? spare_of(left.least) : 0;
  piece.trips_left_now = first.trips_left[piece.depth];
  piece.resident.loop = &first.program->loop_around(*first.op, piece.depth);
  for (const auto& [warp, at] : warps) {
    piece.resident.trip = piece.resident.trip + work_[warp->launch].of_trip(*warp, cta.cta_class, piece.depth);
    piece.at.push_back(at + piece.depth);
  }
  return piece;
}

void SampledSm::find_pieces() {
  const SmState& state = sm_->state();
  const std::vector<std::vector<Piece>> before = std::exchange(pieces_, std::vector<std::vector<Piece>>(work_.size()));
  std::vector<std::vector<PlacedWarp>> of_cta(state.ctas.size());
  size_t at = 0;
  for_each_warp([&](const Warp& warp) {
    const size_t place = at;
    at += warp.op->depth;
    if (warp.exited) return;
    if (state.coupled(warp.launch)) {
      of_cta[warp.cta].emplace_back(&warp, place);
    } else {
      pieces_[warp.launch].push_back(piece_of({{&warp, place}}));
    }
  });
  for (const std::vector<PlacedWarp>& warps : of_cta) {
    if (!warps.empty()) pieces_[warps.front().first->launch].push_back(piece_of(warps));
  }
  const auto serial = [](const Piece& piece) { return piece.resident.serial; };
  for (size_t l = 0; l < pieces_.size(); ++l) {
    std::ranges::sort(pieces_[l], {}, serial);
    if (before.empty()) continue;
    for (Piece& piece : pieces_[l]) {
      const auto known = std::ranges::lower_bound(before[l], serial(piece), {}, serial);
      const bool same = known != before[l].end() && serial(*known) == serial(piece) && known->resident.loop == piece.resident.loop;
      if (!same) continue;
      piece.resident.trips_left = known->resident.trips_left;
      piece.resident.at = known->resident.at;
    }
  }
}

SmSample SampledSm::sample(Cycle now) {
  SmSample sample;
  StateVisitor visitor(sample.state, now);
  sm_->visit(visitor);
  for (auto* words : {&sample.state.key, &sample.state.classes, &sample.state.moment_owners}) {
    words->clear();
    words->shrink_to_fit();
  }
  find_pieces();
  const SmState& state = sm_->state();
  sample.waiting.resize(work_.size());
  sample.residents.resize(work_.size());
  phase_.assign(work_.size(), 0);
  for_each_warp([&](const Warp& warp) {
    auto& waiting = sample.waiting[warp.launch];
    if (warp.exited) waiting[{warp.row, WarpState::kDrain}] += now - (warp.last_issue + 1);
    // A wait for room in a queue of tensor products is left out: it is charged to the queue's holders when it ends.
    if (warp.blocked && warp.reason != WarpState::kMathPipeThrottle) waiting[{warp.waiting_row, warp.reason}] += now - warp.since;
    phase_[warp.launch] += warp.exited ? 0 : 1;
  });
  for (size_t l = 0; l < work_.size(); ++l) {
    const auto launch = static_cast<int>(l);
    const LaunchProgress& progress = state.progress[l];
    if (state.ctas_left(launch)) phase_[l] = kUnbounded - (progress.placed > 0 ? 1U : 0U) - (progress.ready <= now ? 2U : 0U);
    for (const Piece& piece : pieces_[l]) sample.residents[l].push_back(piece.resident);
    sample.launches.push_back(sm_->account().launch(launch));
    sample.states.push_back(sm_->account().cycles_of(launch));
    sample.ctas_done.push_back(progress.done);
  }
  return sample;
}

// ---- most windows that may be skipped

uint64_t SampledSm::most_of_residents(size_t l, const Wanted& wanted) const {
  uint64_t windows = kUnbounded;
  if (wanted.instructions == 0) return kUnbounded;
  if (wanted.of_residents.empty() || wanted.of_residents.size() != pieces_[l].size()) return 0;
  for (size_t p = 0; p < pieces_[l].size(); ++p) {
    if (wanted.of_residents[p] > 0)
      windows = std::min(windows, static_cast<uint64_t>(static_cast<double>(pieces_[l][p].trips) / wanted.of_residents[p]));
  }
  return windows;
}

uint64_t SampledSm::most_of_ctas(size_t launch, const Wanted& wanted) {
  if (!has_ctas_left(launch)) return 0;
  uint64_t ctas = 0;
  return wanted.instructions == 0 ? kUnbounded : not_placed(static_cast<int>(launch), ctas).instructions / wanted.instructions;
}

Work SampledSm::mean_of_not_placed(size_t launch) {
  uint64_t ctas = 0;
  const Work all = not_placed(static_cast<int>(launch), ctas);
  return ctas > 0 ? Work{all.instructions / ctas, all.bytes / ctas} : Work{};
}

// Returns the work of the CTAs that have not been placed, without the last one. Adds their number to `ctas`.
Work SampledSm::not_placed(int launch, uint64_t& ctas) {
  const SmState& state = sm_->state();
  const LaunchProgress& progress = state.progress[launch];
  const CtaList& runs = state.launches[launch].ctas;
  Work work;
  for (size_t r = progress.next_run; r < runs.size(); ++r) {
    uint64_t count = runs[r].count - (r == progress.next_run ? progress.next_in_run : 0);
    if (r + 1 == runs.size()) --count;
    work = work + work_[launch].of_cta(runs[r].cta_class) * count;
    ctas += count;
  }
  return work;
}

uint64_t SampledSm::Piece::nearest(double wanted) const { return std::min(trips, static_cast<uint64_t>(std::llround(wanted))); }

double SampledSm::trip_rounding_error(size_t launch, const Wanted& wanted, uint64_t windows) const {
  double most = 0;
  for (size_t p = 0; p < pieces_[launch].size(); ++p) {
    if (wanted.of_residents[p] == 0) continue;
    const double all = static_cast<double>(windows) * wanted.of_residents[p];
    most = std::max(most, std::abs(static_cast<double>(pieces_[launch][p].nearest(all)) - all) / wanted.of_residents[p]);
  }
  return most;
}

uint64_t SampledSm::longest_trip(size_t launch) const {
  uint64_t longest = 0;
  for (const Piece& piece : pieces_[launch]) {
    if (piece.trips > 0) longest = std::max(longest, piece.resident.trip.instructions);
  }
  return longest;
}

uint64_t SampledSm::longest_cta(size_t launch) {
  uint64_t longest = 0;
  for (const traces::CtaRun& run : sm_->state().launches[launch].ctas)
    longest = std::max(longest, work_[launch].of_cta(run.cta_class).instructions);
  return longest;
}

bool SampledSm::has_unequal_ctas(size_t launch) {
  const CtaList& runs = sm_->state().launches[launch].ctas;
  const auto length = [&](const traces::CtaRun& run) { return work_[launch].of_cta(run.cta_class).instructions; };
  return std::ranges::adjacent_find(runs, std::ranges::not_equal_to{}, length) != runs.end();
}

double SampledSm::cta_rounding_error(size_t launch, const Wanted& wanted, uint64_t windows, const std::vector<uint64_t>& owed) {
  const uint64_t all = windows * wanted.instructions + (launch < owed.size() ? owed[launch] : 0);
  uint64_t ctas = 0;
  const uint64_t rest = all - ctas_of_all_places(launch, all, ctas).instructions;
  const auto pieces = static_cast<double>(pieces_[launch].size());
  const double share = static_cast<double>(rest) / std::max(1.0, pieces);
  double most = 0;
  for (const Piece& piece : pieces_[launch]) {
    const auto trip = static_cast<double>(piece.resident.trip.instructions);
    const double trips = trip > 0 ? std::min(std::floor(share / trip), static_cast<double>(piece.trips)) : 0;
    most = std::max(most, share - trips * trip);
  }
  double instructions = most * pieces;
  const bool any_order = longest_trip(launch) == 0 || has_unequal_ctas(launch);
  const uint32_t running = std::max<uint32_t>(static_cast<uint32_t>(sm_->state().progress[launch].running), 1);
  if (any_order) instructions += static_cast<double>((running - 1) * longest_cta(launch));
  return instructions / static_cast<double>(wanted.instructions);
}

// ---- taking

Work SampledSm::placed_last(size_t launch, uint64_t ctas) {
  const SmState& state = sm_->state();
  const LaunchProgress& progress = state.progress[launch];
  const CtaList& runs = state.launches[launch].ctas;
  Work work;
  for (size_t r = std::min(progress.next_run + 1, runs.size()); r-- > 0 && ctas > 0;) {
    const uint64_t placed = std::min(ctas, r == progress.next_run ? progress.next_in_run : runs[r].count);
    work = work + work_[launch].of_cta(runs[r].cta_class) * placed;
    ctas -= placed;
  }
  return work;
}

Work SampledSm::next_ctas(size_t launch, uint64_t instructions, uint64_t& ctas, uint64_t most) {
  const SmState& state = sm_->state();
  const LaunchProgress& progress = state.progress[launch];
  const CtaList& runs = state.launches[launch].ctas;
  Work taken;
  for (size_t r = progress.next_run; r < runs.size(); ++r) {
    const uint64_t count = runs[r].count - (r == progress.next_run ? progress.next_in_run : 0);
    const Work cta = work_[launch].of_cta(runs[r].cta_class);
    const uint64_t next =
        std::min({r + 1 == runs.size() ? count - 1 : count, (instructions - taken.instructions) / cta.instructions, most - ctas});
    ctas += next;
    taken = taken + cta * next;
    if (next < count) break;
  }
  return taken;
}

// Returns the work of whole CTAs of at most `instructions` together, and sets their number. Takes the same number in
// the place of each running CTA, so that the distances between the ends of CTAs stay the same. Running CTAs give the
// remainder as trips; if they have none to give, as many CTAs are taken as fit.
Work SampledSm::ctas_of_all_places(size_t launch, uint64_t instructions, uint64_t& ctas) {
  uint64_t fit = 0;
  const Work work = next_ctas(launch, instructions, fit);
  const uint64_t places = std::max<uint64_t>(sm_->state().progress[launch].running, 1);
  if (longest_trip(launch) == 0) {
    ctas = fit;
    return work;
  }
  return next_ctas(launch, instructions, ctas, fit / places * places);
}

// Takes from each resident the trips that it would have done, to the nearest whole trip.
void SampledSm::take_of_residents(std::vector<Piece>& pieces, uint64_t windows, const Wanted& wanted) const {
  if (wanted.of_residents.size() != pieces.size()) return;
  for (size_t p = 0; p < pieces.size(); ++p) {
    pieces[p].taken = pieces[p].nearest(static_cast<double>(windows) * wanted.of_residents[p]);
  }
}

// Takes the same number of trips from each resident, so that the distances between their ends stay the same. If a
// resident has too few trips left, the others give more.
void SampledSm::take_evenly(std::vector<Piece>& pieces, uint64_t instructions) const {
  std::vector<Piece*> order;
  for (Piece& piece : pieces) {
    if (piece.trips > 0) order.push_back(&piece);
  }
  std::ranges::stable_sort(order, {}, &Piece::trips);
  for (size_t i = 0; i < order.size(); ++i)
    order[i]->take(instructions / (order.size() - i) / order[i]->resident.trip.instructions, instructions);
  std::ranges::reverse(order);
  for (Piece* piece : order) piece->take(1, instructions);
}

SampledSm::Taken SampledSm::take(const SmSample& from, const SmSample& to, uint64_t windows, const std::vector<Wanted>& wanted,
                                 const std::vector<uint64_t>& owed) {
  FastForward by;
  by.periods = windows;
  by.cycles = windows * (to.state.at - from.state.at);
  by.risen.assign(to.state.levels.size(), 0);
  by.moments.assign(to.state.moments.size(), by.cycles);
  by.trips_taken.assign(to.state.trips.left.size(), 0);
  by.placed.assign(work_.size(), 0);
  count(from.state, to.state, by);
  Taken taken{.windows = windows, .cycles = by.cycles, .instructions = {}};
  std::vector<Correction> corrections;
  for (size_t l = 0; l < work_.size(); ++l) {
    Work work;
    std::vector<Piece> pieces = pieces_[l];
    if (windows <= most_of_residents(l, wanted[l])) {
      take_of_residents(pieces, windows, wanted[l]);
    } else {
      const uint64_t instructions = windows * wanted[l].instructions + owed[l];
      work = ctas_of_all_places(l, instructions, by.placed[l]);
      take_evenly(pieces, instructions - work.instructions);
    }
    for (const Piece& piece : pieces) {
      work = work + piece.resident.trip * piece.taken;
      for (const size_t place : piece.at) by.trips_taken[place] += piece.taken;
    }
    taken.instructions.push_back(work.instructions);
    const LaunchAccount& before = from.launches[l];
    const LaunchAccount& after = to.launches[l];
    Correction& correction = corrections.emplace_back();
    correction.ctas = by.placed[l] - windows * (to.ctas_done[l] - from.ctas_done[l]);
    correction.instructions = work.instructions - windows * (after.instructions - before.instructions);
    correction.requested_bytes = work.bytes - windows * (after.requested_bytes - before.requested_bytes);
    correction.served_bytes = work.bytes - windows * (after.served_bytes - before.served_bytes);
    const uint64_t requested = after.requested_bytes - before.requested_bytes;
    correction.l1_bytes = in_proportion(after.l1_bytes - before.l1_bytes, work.bytes, requested, windows);
    correction.dram_bytes = in_proportion(after.dram_bytes - before.dram_bytes, work.bytes, requested, windows);
    for (const auto& [cell, cycles] : to.waiting[l]) correction.waits[cell] += windows * cycles;
    for (const auto& [cell, cycles] : from.waiting[l]) correction.waits[cell] -= windows * cycles;
    correction.resident_warp_cycles = windows * (to.states[l] - from.states[l]) + sum_of(correction.waits) +
                                      correction.instructions -
                                      windows * (after.resident_warp_cycles - before.resident_warp_cycles);
  }
  move_on(*sm_, by, false);
  for (size_t l = 0; l < corrections.size(); ++l) correct(*sm_, static_cast<int>(l), corrections[l]);
  return taken;
}

std::vector<uint64_t> SampledSm::take_owed(const std::vector<uint64_t>& owed) {
  find_pieces();
  Snapshot now;
  StateVisitor recorder(now, sm_->state().now + 1);
  sm_->visit(recorder);
  FastForward by;
  by.periods = 1;
  by.counted.assign(now.counts.size(), 0);
  by.risen.assign(now.levels.size(), 0);
  by.moments.assign(now.moments.size(), 0);
  by.trips_taken.assign(now.trips.left.size(), 0);
  by.placed.assign(work_.size(), 0);
  std::vector<Work> taken(work_.size());
  for (size_t l = 0; l < work_.size(); ++l) {
    if (owed[l] == 0) continue;
    take_evenly(pieces_[l], owed[l]);
    for (const Piece& piece : pieces_[l]) {
      taken[l] = taken[l] + piece.resident.trip * piece.taken;
      for (const size_t place : piece.at) by.trips_taken[place] += piece.taken;
    }
  }
  std::vector<uint64_t> instructions;
  for (const Work& work : taken) instructions.push_back(work.instructions);
  if (std::ranges::all_of(instructions, [](uint64_t each) { return each == 0; })) return instructions;
  StateVisitor mover(by);
  sm_->visit(mover);
  for (size_t l = 0; l < work_.size(); ++l) {
    correct(*sm_, static_cast<int>(l),
            {.instructions = taken[l].instructions,
             .resident_warp_cycles = taken[l].instructions,
             .requested_bytes = taken[l].bytes,
             .served_bytes = taken[l].bytes});
  }
  forget();
  return instructions;
}

}  // namespace warpfold::sim
