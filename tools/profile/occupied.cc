#include "tools/profile/occupied.h"

#include <algorithm>

namespace warpfold::profile {

// Launches are in order of their starts. A launch is compared with at most as many running launches as a GPU can hold, those with
// the latest ends. A trace with more cannot come from a GPU.
Occupied occupied(const Profile& profile) {
  constexpr size_t kMostResident = 128;  // grids resident on a device: CUDA C++ Programming Guide 12, table of compute capabilities
  Occupied result;
  if (profile.launches.empty()) return result;
  result.beside = profile.beside;
  result.beside.resize(profile.launches.size());
  std::multimap<double, size_t> running;  // launches by their end
  const double first = profile.launches.front().start_us;
  double at = first;
  const auto pass_to = [&](double moment) {
    const double passed = std::max(0.0, moment - at);
    if (!running.empty()) result.busy_us += passed;
    if (running.size() > 1) result.overlap_us += passed;
    at = std::max(at, moment);
  };
  const auto pass = [&](double until) {
    while (!running.empty() && running.begin()->first <= until) {
      pass_to(running.begin()->first);
      running.erase(running.begin());
    }
    if (!running.empty()) pass_to(until);
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
    const double end = launch.start_us + launch.us;
    size_t seen = 0;
    for (auto other = running.rbegin(); other != running.rend() && seen < kMostResident; ++other, ++seen) {
      const uint32_t shape = profile.launches[other->second].shape;
      if (launch.shape == Launch::kCopy || shape == Launch::kCopy) continue;
      result.together[std::minmax(launch.shape, shape)] += std::min(other->first, end) - launch.start_us;
      result.beside[l] = result.beside[other->second] = true;
    }
    running.emplace(end, l);
  }
  pass(running.empty() ? at : running.rbegin()->first);
  result.span_us = at - first;
  return result;
}

}  // namespace warpfold::profile
