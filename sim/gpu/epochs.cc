#include "sim/gpu/epochs.h"

#include <algorithm>
#include <boost/dynamic_bitset.hpp>
#include <iterator>
#include <optional>
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

void add_fold(const FoldReport& fold, FoldReport& whole) {
  whole.mode = std::max(whole.mode, fold.mode);
  whole.error_bound = std::max(whole.error_bound, fold.error_bound);
  std::ranges::copy(fold.periods, std::back_inserter(whole.periods));
  whole.instructions_replayed += fold.instructions_replayed;
  whole.instructions_shared += fold.instructions_shared;
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

namespace {

// Launches that may begin now: not released before, and all that they wait for has ended.
std::vector<size_t> next_of(const std::vector<std::vector<int>>& depends_on, const std::vector<bool>& released,
                            const std::vector<bool>& ended) {
  std::vector<size_t> next;
  for (size_t l = 0; l < released.size(); ++l) {
    if (!released[l] && std::ranges::all_of(depends_on[l], [&](int d) { return ended[static_cast<size_t>(d)]; })) next.push_back(l);
  }
  return next;
}

bool same_but_for_names(const std::vector<Launch>& some, const std::vector<Launch>& others) {
  return std::ranges::equal(some, others, [](Launch a, const Launch& b) {
    const bool same = a.kernel == b.kernel || traces::nameless(*a.kernel) == traces::nameless(*b.kernel);
    a.kernel = b.kernel;
    return same && a == b;
  });
}

}  // namespace

// Goes through the outcome from end to end: whenever launches are released there, as many must be released here, and none else.
std::optional<Epoch> begins_like(const std::vector<Launch>& launches, const Epoch& epoch, const Epoch& before,
                                 const Outcome& outcome, bool serialise) {
  const std::vector<Launch> here = launches_of(launches, epoch);
  const std::vector<Launch> there = launches_of(launches, before);
  const auto waits_here = dependences(here, serialise);
  const auto waits_there = dependences(there, serialise);
  std::vector<bool> released_here(here.size());
  std::vector<bool> released_there(there.size());
  std::vector<bool> ended_here(here.size());
  std::vector<bool> ended_there(there.size());
  std::vector<size_t> stands_for(there.size());  // a launch there for the one here
  for (size_t ended = 0; ended < there.size();) {
    const std::vector<size_t> next_here = next_of(waits_here, released_here, ended_here);
    const std::vector<size_t> next_there = next_of(waits_there, released_there, ended_there);
    if (next_here.size() != next_there.size()) return std::nullopt;
    for (size_t i = 0; i < next_there.size(); ++i) {
      stands_for[next_there[i]] = next_here[i];
      released_here[next_here[i]] = true;
      released_there[next_there[i]] = true;
    }
    uint64_t end = UINT64_MAX;
    for (size_t l = 0; l < there.size(); ++l) {
      if (released_there[l] && !ended_there[l]) end = std::min(end, outcome.kernels[l].end_cycle);
    }
    if (end == UINT64_MAX) return std::nullopt;
    for (size_t l = 0; l < there.size(); ++l) {
      if (!released_there[l] || ended_there[l] || outcome.kernels[l].end_cycle > end) continue;
      ended_there[l] = true;
      ended_here[stands_for[l]] = true;
      ++ended;
    }
  }
  if (!std::ranges::is_sorted(stands_for)) return std::nullopt;
  Epoch part;
  for (const size_t l : stands_for) part.push_back(epoch[l]);
  // Whether launches part an SM is asked of all of an epoch.
  const bool parts = std::ranges::any_of(here, [](const Launch& launch) { return launch.any(); });
  if (parts && part.size() < epoch.size()) return std::nullopt;
  if (!same_but_for_names(launches_of(launches, part), there)) return std::nullopt;
  return part;
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
  Outcome whole;
  whole.kernels.resize(launches.size());
  whole.ledger.resize(launches.size());
  whole.other_bounds.assign(other_bounds, {.same = true, .absent = std::vector<std::vector<Losses>>(launches.size())});
  for (size_t e = 0; e < epochs.size(); ++e) {
    const Outcome& outcome = *outcomes[e];
    const uint64_t begin = e == 0 ? 0 : whole.total_cycles + spec.kernel_launch;
    add_kernels(outcome, epochs[e], begin, whole);
    add_resources(outcome, whole);
    add_fold(outcome.fold, whole.fold);
    std::ranges::copy(outcome.folds, std::back_inserter(whole.folds));
    add_other_bounds(outcome, epochs[e], whole);
    whole.total_cycles = begin + outcome.total_cycles;
    whole.sms_simulated = std::max(whole.sms_simulated, outcome.sms_simulated);
    whole.left_idle = outcome.left_idle;
    whole.deadlocked = outcome.deadlocked;
    whole.deadlock = outcome.deadlock;
  }
  for (size_t l = 0; l < launches.size(); ++l) whole.ran.push_back(l);
  std::vector<const traces::Kernel*> kernels;
  std::vector<SmRange> ranges;
  for (const Launch& launch : launches) {
    kernels.push_back(launch.kernel);
    ranges.push_back(launch.sms);
  }
  whole.sm_classes = static_cast<uint32_t>(distribute(kernels, spec.memory.sm_count, ranges).size());
  return whole;
}

}  // namespace warpfold::sim
