#include "traces/import/footprint.h"

#include <algorithm>
#include <set>
#include <vector>

namespace warpfold::sass {
namespace {

constexpr uint64_t kSectorBytes = 32;

uint64_t magnitude(int64_t value) { return static_cast<uint64_t>(value < 0 ? -value : value); }

}  // namespace

ArrayTraffic traffic_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas) {
  std::set<uint64_t> sectors;
  for (const uint64_t lane : touch.lanes) {
    for (uint64_t s = lane / kSectorBytes; s <= (lane + touch.access_bytes - 1) / kSectorBytes; ++s) sectors.insert(s);
  }
  ArrayTraffic traffic;
  if (sectors.empty()) return traffic;
  std::vector<Touch::Stride> strides = touch.strides;
  for (int v = 0; v < kCtaVariables; ++v) {
    const bool elsewhere = (touch.varies >> v & 1) != 0;
    strides.push_back({touch.slope[static_cast<size_t>(v)], ctas[static_cast<size_t>(v)], elsewhere});
  }
  traffic.requested = sectors.size() * kSectorBytes * touch.times;
  for (const Touch::Stride& stride : strides) traffic.requested *= stride.count;
  // From the smallest stride on: the pattern so far moves over itself (dense), or past itself.
  std::ranges::sort(strides, std::less<>(), [](const Touch::Stride& stride) { return magnitude(stride.bytes); });
  uint64_t span = (*sectors.rbegin() - *sectors.begin() + 1) * kSectorBytes;
  uint64_t run = kSectorBytes;  // bytes without a gap at the beginning
  for (uint64_t s = *sectors.begin() + 1; sectors.contains(s); ++s) run += kSectorBytes;
  uint64_t distinct = sectors.size() * kSectorBytes;
  for (const Touch::Stride& stride : strides) {
    const uint64_t step = magnitude(stride.bytes);
    if (stride.elsewhere || step == 0 || stride.count <= 1) continue;
    const uint64_t moves = stride.count - 1;
    const uint64_t fresh = step >= run ? distinct : distinct / run * step;
    span += step * moves;
    distinct = std::min(span, distinct + fresh * moves);
    if (distinct == span) run = span;
  }
  for (const Touch::Stride& stride : strides) distinct *= stride.elsewhere ? stride.count : 1;
  traffic.touched = distinct;
  return traffic;
}

}  // namespace warpfold::sass
