#pragma once

#include <array>
#include <cstdint>

#include "traces/import/touch.h"

namespace warpfold::sass {

// Traffic of a launch to an array, in bytes of whole sectors.
struct ArrayTraffic {
  uint64_t requested = 0;  // by all accesses
  uint64_t random = 0;     // part of requested at random places of the array
  uint64_t touched = 0;    // touched bytes, each counted once per touch: an upper bound if touches overlap
};

// Returns the traffic of the touch in a box of CTAs.
ArrayTraffic traffic_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas);

// Byte range of an array that contains all accesses, relative to the array's start, with the instructions of the first
// and the last access.
struct Reach {
  int64_t first = 0;
  int64_t end = 0;
  int32_t first_op = -1;
  int32_t end_op = -1;

  void extend(const Reach& other);
};

// Returns the range of the touch in a box of CTAs, in an array that begins at `address`. Variables that move the touch
// otherwise than linearly stay at their origin.
Reach reach_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas, uint64_t address);

}  // namespace warpfold::sass
