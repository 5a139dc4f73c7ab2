#include "traces/access/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace warpfold::traces::access {

Fraction simplest(uint64_t numerator, uint64_t denominator) {
  if (denominator == 0 || numerator == 0) return {};
  if (numerator >= denominator) return {1, 1};
  const double share = static_cast<double>(numerator) / static_cast<double>(denominator);
  constexpr double kRelative = 0.005;
  constexpr double kAbsolute = 0.0005;
  const double allowed = std::max(kRelative * share, std::min(kAbsolute, 0.25 * share));
  // Descends the Stern-Brocot tree: the first fraction inside the interval has the smallest denominator.
  uint64_t low_n = 0;
  uint64_t low_d = 1;
  uint64_t high_n = 1;
  uint64_t high_d = 1;
  while (low_d + high_d <= 16384) {  // units of SpreadShare
    const uint64_t middle_n = low_n + high_n;
    const uint64_t middle_d = low_d + high_d;
    const double middle = static_cast<double>(middle_n) / static_cast<double>(middle_d);
    if (std::abs(middle - share) <= allowed) return {middle_n, middle_d};
    (middle < share ? low_n : high_n) = middle_n;
    (middle < share ? low_d : high_d) = middle_d;
  }
  return {high_n, high_d};
}

Fraction simplest_binary(uint64_t numerator, uint64_t denominator) {
  if (denominator == 0 || numerator == 0) return {};
  if (numerator >= denominator) return {1, 1};
  const double share = static_cast<double>(numerator) / static_cast<double>(denominator);
  constexpr double kAllowed = 0.005;
  constexpr uint64_t kMost = 4096;
  for (uint64_t below = 2;; below *= 2) {
    const auto above = static_cast<uint64_t>(std::round(share * static_cast<double>(below)));
    const double off = std::abs(static_cast<double>(above) / static_cast<double>(below) - share);
    if (below == kMost || (off <= kAllowed && above < below)) return {std::min(above, below - 1), below};
  }
}

Served served(const SiteReuse& used) {
  if (used.sectors > 0 && used.l1_requests == used.requests) return {.l1 = {1, 1}, .moved = {1, 1}, .dram = {}};
  const Fraction l1 = simplest_binary(used.l1_requests, used.requests);
  Served result{.l1 = l1, .moved = {1, 1}, .dram = simplest(used.dram_sectors, std::max<uint64_t>(used.l2_sectors(), 1))};
  if (used.sectors == 0) return result;
  // Rounding of l1 may leave more to move than the requests that miss have.
  const uint64_t goes_on = used.l2_sectors() * l1.denominator;
  const uint64_t asked = used.sectors * (l1.denominator - l1.numerator);
  if (goes_on > 0 && goes_on < asked) {
    const uint64_t divisor = std::gcd(goes_on, asked);
    result.moved = {goes_on / divisor, asked / divisor};
  }
  return result;
}

}  // namespace warpfold::traces::access
