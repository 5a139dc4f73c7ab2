#include "traces/import/touch.h"

#include <algorithm>

namespace warpfold::sass {

std::vector<access::LaneAccess> accesses_of(const Touch& touch) {
  std::vector<uint64_t> lanes = touch.lanes;
  std::ranges::sort(lanes);
  std::vector<access::LaneAccess> accesses;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const size_t lane = i % access::kLanes;
    if (lane == 0) accesses.push_back({.addresses = {}, .mask = 0, .bytes = touch.access_bytes});
    accesses.back().addresses[lane] = lanes[i];
    accesses.back().mask |= 1U << lane;
  }
  return accesses;
}

std::vector<access::LineTouch> lines_of(const Touch& touch, uint64_t shift) {
  std::vector<access::LineTouch> all;
  std::vector<access::LineTouch> some;
  for (access::LaneAccess access : accesses_of(touch)) {
    for (uint64_t& address : access.addresses) address += shift;
    access::coalesce(access, some);
    for (const access::LineTouch& line : some) {
      if (!all.empty() && all.back().line == line.line) {
        all.back().sectors |= line.sectors;
      } else {
        all.push_back(line);
      }
    }
  }
  return all;
}

}  // namespace warpfold::sass
