#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::test {

// An exact set-associative cache: LRU replacement, lines of four sectors, set number by the line number modulo the
// sets, as in most papers.
class SetCache {
 public:
  SetCache(uint64_t lines, uint64_t ways) : ways_(ways), sets_(lines / ways) {}

  // Requests sectors of a line and returns the hits among them. The cache holds all of them afterwards.
  uint8_t touch(uint64_t line, uint8_t sectors);

 private:
  struct Way {
    uint64_t line;
    uint8_t sectors;
  };
  uint64_t ways_;
  std::vector<std::vector<Way>> sets_;  // most recently used last
};

}  // namespace warpfold::test
