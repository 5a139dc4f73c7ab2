#include "tests/support/set_cache.h"

#include <algorithm>

namespace warpfold::test {

uint8_t SetCache::touch(uint64_t line, uint8_t sectors) {
  std::vector<Way>& set = sets_[line % sets_.size()];
  Way way{line, sectors};
  uint8_t hits = 0;
  if (const auto known = std::ranges::find(set, line, &Way::line); known != set.end()) {
    hits = static_cast<uint8_t>(known->sectors & sectors);
    way.sectors = static_cast<uint8_t>(way.sectors | known->sectors);
    set.erase(known);
  } else if (set.size() == ways_) {
    set.erase(set.begin());
  }
  set.push_back(way);
  return hits;
}

}  // namespace warpfold::test
