#include "sim/plan/repeated_prefix.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

// Returns the launches that may begin now: not released yet, and all launches that they wait for have ended.
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
    const bool same = a.kernel == b.kernel || traces::without_provenance(*a.kernel) == traces::without_provenance(*b.kernel);
    a.kernel = b.kernel;
    return same && a == b;
  });
}

}  // namespace

// Steps through the launch ends of the outcome. Whenever launches of `before` are released, the same number of launches
// of `epoch` must be released.
std::optional<Epoch> repeated_prefix(const std::vector<Launch>& launches, const Epoch& epoch, const Epoch& before,
                                     const Outcome& outcome, bool serialise) {
  const std::vector<Launch> here = launches_of(launches, epoch);
  const std::vector<Launch> there = launches_of(launches, before);
  const auto waits_here = dependences(here, serialise);
  const auto waits_there = dependences(there, serialise);
  std::vector<bool> released_here(here.size());
  std::vector<bool> released_there(there.size());
  std::vector<bool> ended_here(here.size());
  std::vector<bool> ended_there(there.size());
  std::vector<size_t> place_of(there.size());  // for each launch there, the launch here that repeats it
  for (size_t ended = 0; ended < there.size();) {
    const std::vector<size_t> next_here = next_of(waits_here, released_here, ended_here);
    const std::vector<size_t> next_there = next_of(waits_there, released_there, ended_there);
    if (next_here.size() != next_there.size()) return std::nullopt;
    for (size_t i = 0; i < next_there.size(); ++i) {
      place_of[next_there[i]] = next_here[i];
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
      ended_here[place_of[l]] = true;
      ++ended;
    }
  }
  if (!std::ranges::is_sorted(place_of)) return std::nullopt;
  Epoch part;
  for (const size_t l : place_of) part.push_back(epoch[l]);
  // Bounds apply while any other launch of the epoch has CTAs left, so launches outside the prefix would affect it.
  const bool bounded = std::ranges::any_of(here, [](const Launch& launch) { return launch.any(); });
  if (bounded && part.size() < epoch.size()) return std::nullopt;
  if (!same_but_for_names(launches_of(launches, part), there)) return std::nullopt;
  return part;
}

}  // namespace warpfold::sim
