#pragma once

#include <array>
#include <cstdint>

#include "traces/import/touch.h"

namespace warpfold::sass {

// What a launch asks of an array, in bytes of whole sectors.
struct ArrayTraffic {
  uint64_t requested = 0;  // by all accesses
  uint64_t random = 0;     // of those, at random places of the array
  uint64_t touched = 0;    // once each, counted touch by touch: an upper bound where touches overlap
};

// What the touch asks in a box of CTAs.
ArrayTraffic traffic_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas);

// Bytes of an array between which accesses lie, from its beginning on, with the instructions of the first and the last of them.
struct Reach {
  int64_t first = 0;
  int64_t end = 0;
  int32_t first_op = -1;
  int32_t end_op = -1;

  void extend(const Reach& other);
};

// Where the touch lies in a box of CTAs, in an array that begins at `address`. Variables that move it otherwise than linearly stay
// at their origin.
Reach reach_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas, uint64_t address);

}  // namespace warpfold::sass
