#include "tools/profile/replay.h"

#include <algorithm>
#include <map>
#include <queue>
#include <utility>

namespace warpfold::profile {

std::vector<LaunchSpan> replayed(const Profile& profile, const std::vector<double>& us) {
  using Ends = std::pair<double, double>;  // measured end, replayed end
  std::vector<LaunchSpan> spans;
  spans.reserve(profile.launches.size());
  std::priority_queue<Ends, std::vector<Ends>, std::greater<>> running;
  std::map<uint32_t, Ends> streams;  // the last launch of each stream
  Ends last{profile.launches.empty() ? 0 : profile.launches.front().start_us, 0};
  for (const Launch& launch : profile.launches) {
    for (; !running.empty() && running.top().first <= launch.start_us; running.pop()) last = running.top();
    const bool known = launch.shape != Launch::kCopy && us[launch.shape] > 0;
    const auto [before, first] = streams.try_emplace(launch.stream, launch.start_us, 0.0);
    // A programmatic launch begins before the previous launch of its stream has ended.
    const double stream_free = before->second.second + std::min(0.0, launch.start_us - before->second.first);
    LaunchSpan& span = spans.emplace_back();
    span.start_us = std::max({0.0, stream_free, last.second + launch.start_us - last.first});
    span.us = known ? us[launch.shape] : launch.us;
    before->second = {launch.start_us + launch.us, span.start_us + span.us};
    running.push(before->second);
  }
  return spans;
}

}  // namespace warpfold::profile
