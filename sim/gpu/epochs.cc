#include "sim/gpu/epochs.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <iterator>
#include <numeric>
#include <type_traits>
#include <utility>

#include "sim/gpu/distribution.h"

namespace warpfold::sim {
namespace {

// [launch][other]: the launch waits for the other, directly or not.
std::vector<boost::dynamic_bitset<>> closure(const std::vector<std::vector<int>>& depends_on) {
  const size_t launches = depends_on.size();
  std::vector<boost::dynamic_bitset<>> waits(launches, boost::dynamic_bitset<>(launches));
  for (size_t l = 0; l < launches; ++l) {
    for (const int d : depends_on[l]) waits[l].set(static_cast<size_t>(d));
  }
  for (size_t by = 0; by < launches; ++by) {
    for (size_t l = 0; l < launches; ++l) {
      if (waits[l].test(by)) waits[l] |= waits[by];
    }
  }
  return waits;
}

// What a launch of an epoch has lost to others of it, among all launches.
void spread(std::vector<Losses>& lost, const Epoch& epoch, size_t launches) {
  std::vector<Losses> all(launches);
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

// `first_class`: the number that its first SM class has in the whole.
void add_fold(const FoldReport& fold, uint32_t first_class, FoldReport& whole) {
  whole.mode = std::max(whole.mode, fold.mode);
  whole.error_bound = std::max(whole.error_bound, fold.error_bound);
  for (FoldedPeriod period : fold.periods) {
    period.sm_class += first_class;
    whole.periods.push_back(period);
  }
  whole.instructions_replayed += fold.instructions_replayed;
  whole.instructions_shared += fold.instructions_shared;
  whole.shortcuts += fold.shortcuts;
  whole.instructions_of_classes += fold.instructions_of_classes;
}

// Of a launch by itself, bounds are no matter: it misses what it would under any.
void add_other_bounds(const Outcome& outcome, const Epoch& epoch, Outcome& whole) {
  for (size_t which = 0; which < whole.other_bounds.size(); ++which) {
    OtherBounds& all = whole.other_bounds[which];
    const bool alone = outcome.other_bounds.empty();
    all.same = all.same && (alone || outcome.other_bounds[which].same);
    for (size_t i = 0; i < epoch.size(); ++i) {
      std::vector<Losses>& absent = all.absent[epoch[i]];
      absent = alone ? outcome.kernels[i].absent : outcome.other_bounds[which].absent[i];
      spread(absent, epoch, whole.kernels.size());
    }
  }
}

Outcome empty_outcome(size_t launches, size_t other_bounds) {
  Outcome whole;
  whole.kernels.resize(launches);
  whole.ledger.resize(launches);
  whole.other_bounds.assign(other_bounds, {.same = true, .absent = std::vector<std::vector<Losses>>(launches)});
  for (size_t l = 0; l < launches; ++l) whole.ran.push_back(l);
  return whole;
}

// Some of its launches, begun at `begin`.
void add_part(const Outcome& outcome, const Epoch& part, uint64_t begin, uint32_t first_class, Outcome& whole) {
  add_kernels(outcome, part, begin, whole);
  add_resources(outcome, whole);
  add_fold(outcome.fold, first_class, whole.fold);
  std::ranges::copy(outcome.folds, std::back_inserter(whole.folds));
  add_other_bounds(outcome, part, whole);
  whole.total_cycles = std::max(whole.total_cycles, begin + outcome.total_cycles);
}

bool meet(const SmRange& one, const SmRange& other) {
  if (one.count == 0 || other.count == 0) return true;
  return one.first < other.first + other.count && other.first < one.first + one.count;
}

}  // namespace

std::vector<std::vector<int>> dependences(const std::vector<Launch>& launches, bool serialise) {
  std::vector<std::vector<int>> result(launches.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    result[l] = launches[l].after;
    for (size_t earlier = 0; earlier < l; ++earlier) {
      if (serialise || launches[earlier].stream == launches[l].stream) result[l].push_back(static_cast<int>(earlier));
    }
  }
  return result;
}

std::vector<Epoch> epochs_of(const std::vector<Launch>& launches, bool serialise) {
  const auto waits = closure(dependences(launches, serialise));
  Epoch order(launches.size());
  for (size_t l = 0; l < order.size(); ++l) order[l] = l;
  // Launches that wait for themselves, by way of others or not, never run.
  if (std::ranges::any_of(order, [&](size_t l) { return waits[l].test(l); })) return {order};
  // Whoever waits for more comes later.
  std::ranges::stable_sort(order, {}, [&](size_t l) { return waits[l].count(); });
  // [at]: what all from there on wait for.
  boost::dynamic_bitset<> by_all(launches.size());
  by_all.set();
  std::vector<size_t> waited_for(launches.size());
  boost::dynamic_bitset<> before(launches.size());
  before.set();
  for (size_t at = order.size(); at-- > 0;) {
    by_all &= waits[order[at]];
    before.reset(order[at]);
    waited_for[at] = (by_all & before).count();
  }
  std::vector<Epoch> epochs;
  for (size_t at = 0; at < order.size(); ++at) {
    if (waited_for[at] == at) epochs.emplace_back();
    epochs.back().push_back(order[at]);
  }
  for (Epoch& epoch : epochs) std::ranges::sort(epoch);
  return epochs;
}

std::vector<Epoch> sides_of(const Spec& spec, const std::vector<Launch>& launches, bool serialise) {
  Epoch all(launches.size());
  std::iota(all.begin(), all.end(), size_t{0});
  // What parts an SM keeps room for launches that have no CTA on it. With half ports a state may be new in one cycle and not in the
  // next: each side's end would be another's.
  if (spec.half_ports() || std::ranges::any_of(launches, &Launch::any)) return {all};
  const auto waits_for = dependences(launches, serialise);
  Epoch side(all);  // per launch, the first launch of its side
  const auto join = [&side](size_t one, size_t other) {
    const auto [first, second] = std::minmax(side[one], side[other]);
    std::ranges::replace(side, second, first);
  };
  for (size_t l = 0; l < launches.size(); ++l) {
    for (const int other : waits_for[l]) join(l, static_cast<size_t>(other));
    for (size_t other = 0; other < l; ++other) {
      if (meet(launches[l].sms, launches[other].sms)) join(l, other);
    }
  }
  std::vector<Epoch> sides;
  for (const size_t first : all) {
    Epoch own;
    std::ranges::copy_if(all, std::back_inserter(own), [&](size_t l) { return side[l] == first; });
    if (!own.empty()) sides.push_back(std::move(own));
  }
  return sides;
}

std::vector<Launch> launches_of(const std::vector<Launch>& launches, const Epoch& epoch) {
  std::vector<Launch> own;
  for (const size_t l : epoch) {
    Launch& launch = own.emplace_back(launches[l]);
    std::vector<int> after;
    for (const int other : launch.after) {
      const auto place = std::ranges::lower_bound(epoch, static_cast<size_t>(other));
      if (place != epoch.end() && *place == static_cast<size_t>(other)) after.push_back(static_cast<int>(place - epoch.begin()));
    }
    launch.after = std::move(after);
  }
  // Of streams only who shares one and which comes first is of matter.
  std::vector<int> streams;
  for (const Launch& launch : own) streams.push_back(launch.stream);
  std::ranges::sort(streams);
  streams.erase(std::ranges::unique(streams).begin(), streams.end());
  for (Launch& launch : own) launch.stream = static_cast<int>(std::ranges::lower_bound(streams, launch.stream) - streams.begin());
  if (own.size() == 1) {
    Launch alone;
    alone.kernel = own.front().kernel;
    alone.sms = own.front().sms;
    own.front() = std::move(alone);
  }
  return own;
}

Outcome of_those_that_ran(Outcome outcome) {
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
    for (SegmentCounters& segment : kernel.segments) {
      narrow(segment.lost);
      narrow(segment.requests_lost);
    }
  }
  for (OtherBounds& other : outcome.other_bounds) {
    narrow(other.absent);
    for (std::vector<Losses>& absent : other.absent) narrow(absent);
  }
  return outcome;
}

std::vector<std::vector<PlacementBounds>> bounds_of_epoch(const std::vector<std::vector<PlacementBounds>>& bounds,
                                                          const Epoch& epoch) {
  if (epoch.size() == 1) return {};
  std::vector<std::vector<PlacementBounds>> own;
  for (const std::vector<PlacementBounds>& each : bounds) {
    own.emplace_back();
    for (const size_t l : epoch) own.back().push_back(each[l]);
  }
  return own;
}

Outcome in_sequence(const Spec& spec, const std::vector<Launch>& launches, const std::vector<Epoch>& epochs,
                    const std::vector<const Outcome*>& outcomes, size_t other_bounds) {
  Outcome whole = empty_outcome(launches.size(), other_bounds);
  for (size_t e = 0; e < epochs.size(); ++e) {
    const Outcome& outcome = *outcomes[e];
    add_part(outcome, epochs[e], e == 0 ? 0 : whole.total_cycles + spec.kernel_launch, 0, whole);
    whole.sms_simulated = std::max(whole.sms_simulated, outcome.sms_simulated);
    whole.left_idle = outcome.left_idle;
    whole.deadlocked = outcome.deadlocked;
    whole.deadlock = outcome.deadlock;
  }
  std::vector<const traces::Kernel*> kernels;
  std::vector<SmRange> ranges;
  for (const Launch& launch : launches) {
    kernels.push_back(launch.kernel);
    ranges.push_back(launch.sms);
  }
  whole.sm_classes = static_cast<uint32_t>(distribute(kernels, spec.memory.sm_count, ranges).size());
  return whole;
}

Outcome side_by_side(const std::vector<Launch>& launches, const std::vector<Epoch>& sides, const std::vector<Outcome>& outcomes,
                     size_t other_bounds) {
  Outcome whole = empty_outcome(launches.size(), other_bounds);
  whole.left_idle = true;
  for (size_t s = 0; s < sides.size(); ++s) {
    const Outcome& outcome = outcomes[s];
    add_part(outcome, sides[s], 0, whole.sms_simulated, whole);
    whole.sms_simulated += outcome.sms_simulated;
    whole.left_idle = whole.left_idle && outcome.left_idle;
    whole.deadlocked = whole.deadlocked || outcome.deadlocked;
  }
  return whole;
}

}  // namespace warpfold::sim
