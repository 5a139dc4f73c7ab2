#include "traces/access/shares.h"

#include <algorithm>
#include <cmath>

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

double moved_share(const SiteReuse& used, const Fraction& l1) {
  const double goes_on = used.requests == 0 ? 1 : static_cast<double>(used.l2_sectors()) / static_cast<double>(used.sectors);
  return goes_on / (1 - l1.value());
}

Served served(const SiteReuse& used) {
  Served result;
  result.in_l1 = used.sectors > 0 && used.l1_requests == used.requests;
  if (result.in_l1) return result;
  result.l1 = simplest_binary(used.l1_requests, used.requests);
  result.moved = moved_share(used, result.l1);
  result.dram = simplest(used.dram_sectors, std::max<uint64_t>(used.l2_sectors(), 1));
  return result;
}

}  // namespace warpfold::traces::access
