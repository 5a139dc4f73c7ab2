#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::test {

// An exact cache: sets of ways with LRU replacement, lines of four sectors, the set by the line's number as most papers have it.
class SetCache {
 public:
  SetCache(uint64_t lines, uint64_t ways) : ways_(ways), sets_(lines / ways) {}

  // Returns the requested sectors that the cache has; afterwards the cache has all of them.
  uint8_t touch(uint64_t line, uint8_t sectors);

 private:
  struct Way {
    uint64_t line;
    uint8_t sectors;
  };
  uint64_t ways_;
  std::vector<std::vector<Way>> sets_;  // newest last
};

}  // namespace warpfold::test
