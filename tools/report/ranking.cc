#include "tools/report/ranking.h"

#include <algorithm>

namespace warpfold::report {

std::vector<uint32_t> ranks(const std::vector<const configs::Result*>& runs) {
  const auto least = [](const configs::Result& run) { return run.total_time_us() * (1 - run.fold().error_bound()); };
  const auto most = [](const configs::Result& run) { return run.total_time_us() * (1 + run.fold().error_bound()); };
  std::vector<uint32_t> places;
  for (const configs::Result* run : runs) {
    const auto faster = std::ranges::count_if(runs, [&](const configs::Result* other) { return most(*other) < least(*run); });
    places.push_back(1 + static_cast<uint32_t>(faster));
  }
  return places;
}

}  // namespace warpfold::report
