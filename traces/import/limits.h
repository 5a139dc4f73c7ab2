#pragma once

#include <cstdint>

namespace warpfold::sass {

// Limits on following a launch. A warp that exceeds them is in a loop that does not end.
struct Limits {
  uint64_t instructions = 4'000'000;  // per warp, executed one by one; some seconds
  uint64_t passes = 200'000;          // per loop, executed one by one
  // Limits on the CTAs executed one by one, and on their instructions. A launch that needs more is sampled
  // (cta_sample.h). A CTA takes 0.1 to 30 ms, a million instructions about a second.
  uint64_t ctas = 4'096;
  uint64_t instructions_of_ctas = 8'000'000;
  bool all_ctas = false;  // executes every CTA, however long it takes
};

}  // namespace warpfold::sass
