#include "sim/memo/recurrence.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

// A position in a list of CTAs, which is a sequence of runs.
class Position {
 public:
  Position(const CtaList& runs, uint64_t at) : runs_(runs) { forward(at); }

  bool at_end() const { return run_ == runs_.size(); }
  uint32_t cta_class() const { return runs_[run_].cta_class; }
  uint64_t left_in_run() const { return runs_[run_].count - in_run_; }
  void forward(uint64_t ctas) {
    in_run_ += ctas;
    while (run_ < runs_.size() && in_run_ >= runs_[run_].count) in_run_ -= runs_[run_++].count;
  }

 private:
  const CtaList& runs_;
  size_t run_ = 0;
  uint64_t in_run_ = 0;
};

// Returns the number of consecutive CTAs from `first` on that have the same class as the CTA `period` later.
uint64_t repeated(const CtaList& runs, uint64_t first, uint64_t period) {
  Position one(runs, first);
  Position other(runs, first + period);
  uint64_t length = 0;
  while (!other.at_end() && one.cta_class() == other.cta_class()) {
    const uint64_t step = std::min(one.left_in_run(), other.left_in_run());
    length += step;
    one.forward(step);
    other.forward(step);
  }
  return length;
}

uint64_t bound_by_loops(const Trips& before, const Trips& after, std::vector<uint64_t>& consumed) {
  uint64_t periods = kUnbounded;
  for (size_t w = 0; w < after.warps.size() && periods > 0; ++w) {
    const Trips::OfWarp& then = before.warps[w];
    const Trips::OfWarp& now = after.warps[w];
    if (then.launch != now.launch || then.depth != now.depth) return 0;
    periods = std::min(periods, bound_by_warp(before.of(then), after.of(now), then.serial == now.serial, consumed));
  }
  return periods;
}

// True if every wait either goes on since before the period, or began exactly a period later than the wait in its
// place. Appends to `moves` by how much a period moves the begin of each wait.
bool moments_fit(const Snapshot& before, const Snapshot& after, std::vector<Cycle>& moves) {
  const Cycle period = after.at - before.at;
  for (size_t i = 0; i < after.moments.size(); ++i) {
    const bool moved = after.moments[i] == before.moments[i] + period;
    if (!moved && after.moments[i] != before.moments[i]) return false;
    moves.push_back(moved ? period : 0);
  }
  return true;
}

// Returns the number of periods in which a level reaches neither of its bounds, if each period changes it as the last
// one did; 0 if it may have reached one in the last period. Within a period, the level rises by at most `added` above
// its start and falls by at most `left` below it.
uint64_t bound_by_level(const Snapshot::Level& before, const Snapshot::Level& after) {
  if (before == after) return kUnbounded;
  const uint64_t added = after.added - before.added;
  const uint64_t left = before.at + added - after.at;
  const bool free = before.at > left && before.at + added <= after.most && before.most == after.most;
  if (!free) return 0;
  if (after.at > before.at) return (after.most - std::min(after.most, after.at + added)) / (after.at - before.at);
  return (after.at - std::min(after.at, left)) / (before.at - after.at);
}

// True if both snapshots hold as many figures of each kind. States with equal keys do, unless a test has left a field
// out of the key.
bool same_shape(const Snapshot& before, const Snapshot& after) {
  return before.counts.size() == after.counts.size() && before.levels.size() == after.levels.size() &&
         before.trips.as_many(after.trips) && before.moments.size() == after.moments.size();
}

}  // namespace

void count(const Snapshot& before, const Snapshot& after, FastForward& by) {
  const uint64_t periods = by.periods;
  for (size_t i = 0; i < after.counts.size(); ++i) by.counted.push_back(periods * (after.counts[i] - before.counts[i]));
  by.charged.reserve(after.charges.size());
  for (size_t i = 0; i < after.charges.size(); ++i) {
    const uint64_t start = i < before.charges.size() ? before.charges[i] : 0;
    by.charged.push_back(periods * (after.charges[i] - start));
  }
}

uint64_t bound_by_ctas(const CtaList& runs, uint64_t placed_before, uint64_t placed_after) {
  const uint64_t period = placed_after - placed_before;
  if (period == 0) return kUnbounded;
  const uint64_t total = count_of(runs);
  if (total <= placed_after) return 0;
  return std::min((total - 1 - placed_after) / period, repeated(runs, placed_before, period) / period);
}

uint64_t bound_by_warp(std::span<const uint64_t> before, std::span<const uint64_t> after, bool same_warp,
                       std::vector<uint64_t>& consumed) {
  uint64_t periods = kUnbounded;
  for (size_t d = 0; d < after.size(); ++d) {
    consumed.push_back(before[d] - after[d]);
    if (before[d] == after[d]) continue;
    if (!same_warp || periods != kUnbounded || before[d] < after[d]) return 0;
    periods = (after[d] - 1) / (before[d] - after[d]);
  }
  return periods;
}

FastForward recurrence(const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas, Cycle limit,
                       uint64_t periods_kept) {
  const Cycle period = after.at - before.at;
  FastForward by;
  if (!same_shape(before, after)) return by;
  if (!moments_fit(before, after, by.moments)) return by;
  uint64_t periods = bound_by_loops(before.trips, after.trips, by.trips_taken);
  for (size_t i = 0; i < after.levels.size(); ++i) periods = std::min(periods, bound_by_level(before.levels[i], after.levels[i]));
  if (limit != kNever) periods = std::min(periods, limit > after.at ? (limit - after.at) / period : 0);
  for (size_t l = 0; l < ctas.size() && periods > 0; ++l) {
    by.placed.push_back(after.placed[l] - before.placed[l]);
    periods = std::min(periods, bound_by_ctas(*ctas[l], before.placed[l], after.placed[l]));
  }
  // Unbounded: the period consumes nothing, so the machine makes no progress. A replay of it never ends either.
  if (periods == kUnbounded || periods <= periods_kept) return {};
  periods -= periods_kept;
  by.periods = periods;
  by.cycles = periods * period;
  for (uint64_t& ctas_placed : by.placed) ctas_placed *= periods;
  for (uint64_t& trips : by.trips_taken) trips *= periods;
  for (Cycle& moved : by.moments) moved *= periods;
  for (size_t i = 0; i < after.levels.size(); ++i) by.risen.push_back(periods * (after.levels[i].at - before.levels[i].at));
  count(before, after, by);
  return by;
}

}  // namespace warpfold::sim
