#include "sim/sm/sm_launch.h"

#include <algorithm>

namespace warpfold::sim {

uint64_t count_of(const CtaList& ctas) {
  uint64_t count = 0;
  for (const traces::CtaRun& run : ctas) count += run.count;
  return count;
}

void append(CtaList& list, uint32_t cta_class, uint64_t count) {
  if (count == 0) return;
  if (!list.empty() && list.back().cta_class == cta_class) {
    list.back().count += count;
  } else {
    list.push_back({cta_class, count});
  }
}

CtaList part_of(const CtaList& ctas, uint64_t first, uint64_t most) {
  CtaList part;
  for (const traces::CtaRun& run : ctas) {
    const uint64_t gone = std::min(first, run.count);
    first -= gone;
    const uint64_t count = std::min(run.count - gone, most);
    most -= count;
    append(part, run.cta_class, count);
  }
  return part;
}

}  // namespace warpfold::sim
