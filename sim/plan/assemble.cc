#include "sim/plan/assemble.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace warpfold::sim {
namespace {

// Reindexes a figure per launch of an epoch, such as losses by culprit, to all launches.
template <typename Figure>
void spread(std::vector<Figure>& lost, const Epoch& epoch, size_t launches) {
  std::vector<Figure> all(launches);
  for (size_t i = 0; i < epoch.size(); ++i) all[epoch[i]] = lost[i];
  lost = std::move(all);
}

void add_kernels(const Outcome& outcome, const Epoch& epoch, uint64_t begin, Outcome& whole) {
  const size_t launches = whole.kernels.size();
  for (size_t i = 0; i < epoch.size(); ++i) {
    KernelCounters& kernel = whole.kernels[epoch[i]] = outcome.kernels[i];
    kernel.start_cycle += begin;
    kernel.end_cycle += begin;
    spread(kernel.absent, epoch, launches);
    spread(kernel.beside, epoch, launches);
    for (SegmentCounters& segment : kernel.segments) {
      spread(segment.lost, epoch, launches);
      spread(segment.requests_lost, epoch, launches);
    }
    whole.ledger[epoch[i]] = outcome.ledger[i];
    spread(whole.ledger[epoch[i]], epoch, launches);
  }
}

void add_resources(const Outcome& outcome, Outcome& whole) {
  if (whole.resources.empty()) {
    whole.resources = outcome.resources;
    return;
  }
  for (size_t r = 0; r < whole.resources.size(); ++r) whole.resources[r].busy += outcome.resources[r].busy;
}

void add_fold(const FoldReport& fold, FoldReport& whole) {
  whole.mode = std::max(whole.mode, fold.mode);
  whole.error_bound = std::max(whole.error_bound, fold.error_bound);
  std::ranges::copy(fold.periods, std::back_inserter(whole.periods));
  whole.instructions_replayed += fold.instructions_replayed;
  whole.instructions_of_classes += fold.instructions_of_classes;
  whole.skips += fold.skips;
  whole.skips_checked += fold.skips_checked;
}

// Adds the epoch's figures for alternative bounds. Bounds have no effect on a launch that runs by itself: its absences
// are the same under all of them.
void add_alternative_bounds(const Outcome& outcome, const Epoch& epoch, Outcome& whole) {
  for (size_t which = 0; which < whole.alternative_bounds.size(); ++which) {
    AlternativeBounds& all = whole.alternative_bounds[which];
    const bool alone = outcome.alternative_bounds.empty();
    all.same = all.same && (alone || outcome.alternative_bounds[which].same);
    for (size_t i = 0; i < epoch.size(); ++i) {
      std::vector<Losses>& absent = all.absent[epoch[i]];
      absent = alone ? outcome.kernels[i].absent : outcome.alternative_bounds[which].absent[i];
      spread(absent, epoch, whole.kernels.size());
    }
  }
}

Outcome empty_outcome(size_t launches, size_t alternative_bounds) {
  Outcome whole;
  whole.kernels.resize(launches);
  whole.ledger.resize(launches);
  whole.alternative_bounds.assign(alternative_bounds, {.same = true, .absent = std::vector<std::vector<Losses>>(launches)});
  for (size_t l = 0; l < launches; ++l) whole.ran.push_back(l);
  return whole;
}

// Adds the outcome of one epoch, which began in cycle `begin`.
void add_part(const Outcome& outcome, const Epoch& part, uint64_t begin, Outcome& whole) {
  add_kernels(outcome, part, begin, whole);
  add_resources(outcome, whole);
  add_fold(outcome.fold, whole.fold);
  std::ranges::copy(outcome.folds, std::back_inserter(whole.folds));
  add_alternative_bounds(outcome, part, whole);
  whole.total_cycles = std::max(whole.total_cycles, begin + outcome.total_cycles);
}

}  // namespace

Outcome restrict_to_ran(Outcome outcome) {
  const auto narrow = [&outcome](auto& of_launches) {
    std::remove_reference_t<decltype(of_launches)> narrowed;
    for (const size_t l : outcome.ran) narrowed.push_back(std::move(of_launches[l]));
    of_launches = std::move(narrowed);
  };
  narrow(outcome.kernels);
  narrow(outcome.ledger);
  for (std::vector<Losses>& lost : outcome.ledger) narrow(lost);
  for (KernelCounters& kernel : outcome.kernels) {
    narrow(kernel.absent);
    narrow(kernel.beside);
    for (SegmentCounters& segment : kernel.segments) {
      narrow(segment.lost);
      narrow(segment.requests_lost);
    }
  }
  for (AlternativeBounds& other : outcome.alternative_bounds) {
    narrow(other.absent);
    for (std::vector<Losses>& absent : other.absent) narrow(absent);
  }
  return outcome;
}

Outcome in_sequence(size_t launches, const std::vector<Epoch>& epochs, const std::vector<std::shared_ptr<const Outcome>>& outcomes,
                    size_t alternative_bounds, Cycle kernel_launch) {
  Outcome whole = empty_outcome(launches, alternative_bounds);
  for (size_t e = 0; e < epochs.size(); ++e) {
    const Outcome& outcome = *outcomes[e];
    add_part(outcome, epochs[e], e == 0 ? 0 : whole.total_cycles + kernel_launch, whole);
    whole.sm_classes = std::max(whole.sm_classes, outcome.sm_classes);
    whole.sms_simulated = std::max(whole.sms_simulated, outcome.sms_simulated);
    whole.left_idle = outcome.left_idle;
    whole.dirty_bytes = outcome.dirty_bytes;
    whole.deadlocked = outcome.deadlocked;
    whole.deadlock = outcome.deadlock;
  }
  return whole;
}

}  // namespace warpfold::sim
