#pragma once

#include <cstdint>

namespace warpfold::sass {

// How far a launch is followed. A warp that goes further is in a loop that does not end.
struct Limits {
  uint64_t instructions = 4'000'000;  // of a warp, executed one by one; some seconds
  uint64_t passes = 200'000;          // of a loop, likewise
  // CTAs executed one by one, and instructions of all of them: a launch that needs more is sampled (cta_sample.h). A CTA takes 0.1
  // to 30 ms, a million instructions about a second.
  uint64_t ctas = 4'096;
  uint64_t instructions_of_ctas = 8'000'000;
  bool all_ctas = false;  // executes every CTA, however long that takes
};

}  // namespace warpfold::sass
