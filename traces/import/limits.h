#pragma once

#include <cstdint>

namespace warpfold::sass {

// How far a launch is followed. A warp that goes further is in a loop that does not end.
struct Limits {
  uint64_t instructions = 4'000'000;  // of a warp, executed one by one; some seconds
  uint64_t passes = 200'000;          // of a loop, likewise
  uint64_t ctas = 20'000;             // executed one by one; some milliseconds each
};

}  // namespace warpfold::sass
