#include "traces/import/domain.h"

#include <algorithm>

namespace warpfold::sass {
namespace {

constexpr int64_t kEndless = int64_t{1} << 50;  // more than any room

int64_t reach_of(int64_t growth, uint32_t steps) {
  int64_t reach = 0;
  if (growth <= 0) return 0;
  return __builtin_mul_overflow(growth, static_cast<int64_t>(steps), &reach) ? kEndless : std::min(reach, kEndless);
}

// Cuts `extents` until the sum of the positive growths stays within `room`.
void cut(const std::array<int64_t, kVariables>& growth, int64_t room, Extents& extents) {
  int64_t reach = 0;
  for (int v = 0; v < kVariables; ++v) reach += reach_of(growth[v], extents[v] - 1);
  for (int v = kVariables - 1; v >= 0 && reach > room; --v) {
    if (growth[v] <= 0 || extents[v] <= 1) continue;
    const int64_t others = reach - reach_of(growth[v], extents[v] - 1);
    const int64_t left = std::max<int64_t>(room - others, 0);
    const auto steps = static_cast<uint32_t>(std::min<int64_t>(left / growth[v], extents[v] - 1));
    reach = others + reach_of(growth[v], steps);
    extents[v] = steps + 1;
  }
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

Extents within(const Linear& value, int64_t least, int64_t most, const Extents& extents) {
  Extents result = extents;
  cut(value.slope, most - value.base, result);
  std::array<int64_t, kVariables> falls{};
  for (int v = 0; v < kVariables; ++v) falls[v] = -value.slope[v];
  cut(falls, value.base - least, result);
  return result;
}

}  // namespace warpfold::sass
