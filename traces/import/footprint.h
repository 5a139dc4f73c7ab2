#pragma once

#include <array>
#include <cstdint>

#include "traces/import/touch.h"

namespace warpfold::sass {

// What a launch asks of an array, in bytes of whole sectors.
struct ArrayTraffic {
  uint64_t requested = 0;  // by all accesses
  uint64_t touched = 0;    // once each, counted touch by touch: an upper bound where touches overlap
};

// What the touch asks in a box of CTAs.
ArrayTraffic traffic_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas);

}  // namespace warpfold::sass
