#include "traces/import/footprint.h"

#include <algorithm>
#include <bit>
#include <vector>

namespace warpfold::sass {
namespace {

uint64_t magnitude(int64_t value) { return static_cast<uint64_t>(value < 0 ? -value : value); }

// Sectors of one execution, in bytes.
struct Pattern {
  uint64_t distinct = 0;
  uint64_t span = 0;  // from the first sector to the end of the last
  uint64_t run = 0;   // from the first sector without a gap
};

Pattern pattern_of(const Touch& touch) {
  Pattern pattern;
  uint64_t first = 0;
  uint64_t last = 0;
  for (const access::LineTouch& line : lines_of(touch)) {
    for (uint32_t s = 0; s < access::kSectorsPerLine; ++s) {
      if ((line.sectors >> s & 1) == 0) continue;
      last = line.line * access::kSectorsPerLine + s;
      if (pattern.distinct == 0) first = last;
      if (last - first == pattern.run / access::kSectorBytes) pattern.run += access::kSectorBytes;
      pattern.distinct += access::kSectorBytes;
    }
  }
  pattern.span = pattern.distinct == 0 ? 0 : (last - first + 1) * access::kSectorBytes;
  return pattern;
}

}  // namespace

ArrayTraffic traffic_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas) {
  auto [distinct, span, run] = pattern_of(touch);
  ArrayTraffic traffic;
  if (touch.stated_bytes > 0) {
    // Each execution is assumed to touch other memory.
    traffic.requested = touch.stated_bytes;
    for (const uint32_t count : ctas) traffic.requested *= count;
    for (const Touch::Stride& stride : touch.strides) traffic.requested *= stride.count;
    traffic.touched = traffic.requested;
    if (touch.random) traffic.random = traffic.requested;
    return traffic;
  }
  if (distinct == 0) return traffic;
  std::vector<Touch::Stride> strides = touch.strides;
  for (int v = 0; v < kCtaVariables; ++v) {
    strides.push_back({touch.slope[static_cast<size_t>(v)], ctas[static_cast<size_t>(v)], touch.moves_otherwise(v)});
  }
  traffic.requested = distinct * touch.receivers;
  for (const Touch::Stride& stride : strides) traffic.requested *= stride.count;
  // In order of rising strides: the pattern so far moves over itself (dense), or past itself.
  std::ranges::sort(strides, std::less<>(), [](const Touch::Stride& stride) { return magnitude(stride.bytes); });
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

void Reach::extend(const Reach& other) {
  if (other.first < first) {
    first = other.first;
    first_op = other.first_op;
  }
  if (other.end > end) {
    end = other.end;
    end_op = other.end_op;
  }
}

Reach reach_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas, uint64_t address) {
  Reach reach{.first_op = touch.op, .end_op = touch.op};
  if (touch.lanes.empty()) return reach;
  const auto [least, most] = std::ranges::minmax(touch.lanes);
  reach.first = static_cast<int64_t>(least - address);
  reach.end = static_cast<int64_t>(most - address + touch.access_bytes);
  const auto move = [&reach](int64_t bytes, uint64_t count) {
    int64_t moved = 0;
    if (__builtin_mul_overflow(bytes, static_cast<int64_t>(count - 1), &moved)) moved = bytes < 0 ? INT64_MIN : INT64_MAX;
    int64_t& side = bytes < 0 ? reach.first : reach.end;
    if (__builtin_add_overflow(side, moved, &side)) side = bytes < 0 ? INT64_MIN : INT64_MAX;
  };
  for (const Touch::Stride& stride : touch.strides) {
    if (!stride.elsewhere && stride.count > 0) move(stride.bytes, stride.count);
  }
  for (int v = 0; v < kCtaVariables; ++v) {
    if (!touch.moves_otherwise(v)) move(touch.slope[static_cast<size_t>(v)], ctas[static_cast<size_t>(v)]);
  }
  return reach;
}

}  // namespace warpfold::sass
