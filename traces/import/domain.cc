#include "traces/import/domain.h"

#include <algorithm>

namespace warpfold::sass {
namespace {

constexpr int64_t kEndless = int64_t{1} << 50;  // larger than any possible room

int64_t reach_of(int64_t growth, uint32_t steps) {
  int64_t reach = 0;
  if (growth <= 0) return 0;
  return __builtin_mul_overflow(growth, static_cast<int64_t>(steps), &reach) ? kEndless : std::min(reach, kEndless);
}

using Growth = std::array<int64_t, kVariables>;

int64_t reach_of(const Growth& growth, const Extents& extents) {
  int64_t reach = 0;
  for (int v = 0; v < kVariables; ++v) reach += reach_of(growth[v], extents[v] - 1);
  return reach;
}

// Limits variable `v`, but not below `least` values, so that the sum of positive growths stays within `room`.
void cut(int v, const Growth& growth, int64_t room, uint32_t least, Extents& extents) {
  const int64_t reach = reach_of(growth, extents);
  if (reach <= room || growth[v] <= 0 || extents[v] <= least) return;
  const int64_t left = std::max<int64_t>(room - (reach - reach_of(growth[v], extents[v] - 1)), 0);
  const auto steps = static_cast<uint32_t>(std::min<int64_t>(left / growth[v], extents[v] - 1));
  extents[v] = std::max(steps + 1, least);
}

void cut(const Growth& growth, int64_t room, Keep keep, Extents& extents) {
  constexpr uint32_t kManyPasses = 1U << 16;  // longer loops are skipped in several steps
  if (keep == Keep::kPasses) {
    for (int v = kVariables - 1; v >= kCtaVariables; --v) cut(v, growth, room, kManyPasses, extents);
    for (int v = kCtaVariables - 1; v >= 0; --v) cut(v, growth, room, 1, extents);
  }
  for (int v = kVariables - 1; v >= 0; --v) cut(v, growth, room, 1, extents);
}

}  // namespace

Extents smaller(const Extents& a, const Extents& b) {
  Extents result{};
  for (int v = 0; v < kVariables; ++v) result[v] = std::min(a[v], b[v]);
  return result;
}

Linear operator-(const Linear& a, const Linear& b) {
  Linear result{a.base - b.base, {}};
  for (int v = 0; v < kVariables; ++v) result.slope[v] = a.slope[v] - b.slope[v];
  return result;
}

Linear operator+(const Linear& a, const Linear& b) {
  Linear result{a.base + b.base, {}};
  for (int v = 0; v < kVariables; ++v) result.slope[v] = a.slope[v] + b.slope[v];
  return result;
}

Extents within(const Linear& value, int64_t least, int64_t most, const Extents& extents, Keep keep) {
  Extents result = extents;
  cut(value.slope, most - value.base, keep, result);
  std::array<int64_t, kVariables> falls{};
  for (int v = 0; v < kVariables; ++v) falls[v] = -value.slope[v];
  cut(falls, value.base - least, keep, result);
  return result;
}

}  // namespace warpfold::sass
