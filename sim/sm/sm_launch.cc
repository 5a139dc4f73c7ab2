#include "sim/sm/sm_launch.h"

#include <algorithm>

namespace warpfold::sim {

uint64_t count_of(const CtaList& ctas) {
  uint64_t count = 0;
  for (const traces::CtaRun& run : ctas) count += run.count;
  return count;
}

CtaList part_of(const CtaList& ctas, uint64_t first, uint64_t most) {
  CtaList part;
  for (const traces::CtaRun& run : ctas) {
    const uint64_t gone = std::min(first, run.count);
    first -= gone;
    const uint64_t count = std::min(run.count - gone, most);
    most -= count;
    if (count == 0) continue;
    if (!part.empty() && part.back().cta_class == run.cta_class) {
      part.back().count += count;
    } else {
      part.push_back({run.cta_class, count});
    }
  }
  return part;
}

}  // namespace warpfold::sim
