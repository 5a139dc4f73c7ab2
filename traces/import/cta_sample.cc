#include "traces/import/cta_sample.h"

#include <algorithm>
#include <cmath>

namespace warpfold::sass {
namespace {

// Steele, Lea and Flood's SplitMix (OOPSLA 2014).
uint64_t mixed(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ bits >> 27) * 0x94d049bb133111eb;
  return bits ^ bits >> 31;
}

}  // namespace

uint64_t product_of(const std::array<uint32_t, 3>& extent, uint8_t dimensions) {
  uint64_t product = 1;
  for (size_t d = 0; d < extent.size(); ++d) product *= (dimensions >> d & 1) != 0 ? extent[d] : 1;
  return product;
}

std::vector<Stratum> strata_of(const Stratum& whole, uint8_t dimensions, uint64_t most) {
  std::vector<Stratum> strata;
  std::vector<Stratum> open{whole};
  while (!open.empty()) {
    Stratum stratum = open.back();
    open.pop_back();
    size_t longest = 0;
    uint32_t length = 0;
    for (size_t d = 0; d < stratum.extent.size(); ++d) {
      if ((dimensions >> d & 1) == 0 || stratum.extent[d] <= length) continue;
      longest = d;
      length = stratum.extent[d];
    }
    if (length <= 1 || product_of(stratum.extent, dimensions) <= most) {
      strata.push_back(stratum);
      continue;
    }
    Stratum later = stratum;
    stratum.extent[longest] = length / 2;
    later.corner[longest] += length / 2;
    later.extent[longest] -= length / 2;
    open.push_back(later);
    open.push_back(stratum);
  }
  return strata;
}

std::array<uint32_t, 3> drawn_place(const Stratum& stratum, uint8_t dimensions) {
  std::array<uint32_t, 3> place{};
  uint64_t bits = 0;
  for (const uint32_t corner : stratum.corner) bits = mixed(bits ^ corner);
  for (size_t d = 0; d < place.size(); ++d) {
    bits = mixed(bits);
    if ((dimensions >> d & 1) != 0) place[d] = static_cast<uint32_t>((bits >> 32) * stratum.extent[d] >> 32);
  }
  return place;
}

double half_width(const std::vector<SampledStratum>& strata) {
  constexpr double kOf95Percent = 1.96;
  double variance = 0;
  for (size_t i = 0; i < strata.size(); ++i) {
    const size_t partner = i + 1 == strata.size() && i % 2 == 0 ? i - std::min<size_t>(i, 1) : i ^ 1;
    const double difference = static_cast<double>(strata[i].instructions) - static_cast<double>(strata[partner].instructions);
    const auto ctas = static_cast<double>(strata[i].ctas);
    const double weight = ctas * static_cast<double>(strata[i].copies);
    variance += weight * weight * (difference * difference / 2) * (1 - 1 / ctas);
  }
  return kOf95Percent * std::sqrt(variance);
}

}  // namespace warpfold::sass
