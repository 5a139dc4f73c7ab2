#include "tools/profile/occupied.h"

#include <algorithm>

namespace warpfold::profile {

// Launches are in the order of their starts. Those still running are few: streams run one launch at a time.
Occupied occupied(const Profile& profile) {
  Occupied result;
  if (profile.launches.empty()) return result;
  result.beside.resize(profile.launches.size());
  struct Running {
    double end;
    size_t launch;
  };
  std::vector<Running> running;
  const double first = profile.launches.front().start_us;
  double at = first;
  // Time passes to `until`: first all that runs, then one less each time a launch ends.
  const auto pass = [&](double until) {
    std::ranges::sort(running, {}, &Running::end);
    for (const Running& each : std::vector(running)) {
      if (each.end > until) break;
      const double passed = std::max(0.0, each.end - at);
      result.busy_us += passed;
      if (running.size() > 1) result.overlap_us += passed;
      at = std::max(at, each.end);
      running.erase(running.begin());
    }
    if (running.empty()) return;
    result.busy_us += until - at;
    if (running.size() > 1) result.overlap_us += until - at;
    at = until;
  };
  for (size_t l = 0; l < profile.launches.size(); ++l) {
    const Launch& launch = profile.launches[l];
    pass(launch.start_us);
    if (running.empty() && launch.start_us > at) {
      const double gap = launch.start_us - at;
      ++result.gaps;
      result.gaps_us += gap;
      result.longest_gap_us = std::max(result.longest_gap_us, gap);
      at = launch.start_us;
    }
    for (const Running& other : running) {
      const uint32_t shape = profile.launches[other.launch].shape;
      if (launch.shape == Launch::kCopy || shape == Launch::kCopy) continue;
      result.together[std::minmax(launch.shape, shape)] += std::min(other.end, launch.start_us + launch.us) - launch.start_us;
      result.beside[l] = result.beside[other.launch] = true;
    }
    running.push_back({launch.start_us + launch.us, l});
  }
  double end = at;
  for (const Running& each : running) end = std::max(end, each.end);
  pass(end);
  result.span_us = end - first;
  return result;
}

}  // namespace warpfold::profile
