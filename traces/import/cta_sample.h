#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warpfold::sass {

// Stratified sample of CTAs, for launches whose CTAs take too many different paths to execute each of them.
//
// The grid is divided into strata: boxes of neighbouring CTAs of nearly equal size. One randomly drawn CTA of each
// stratum is executed and represents it. Neighbours take similar paths in most kernels, so the variance within a
// stratum is small. Random draws, unlike every n-th CTA, do not align with a period of the index (parity, remainders).

// Clusters from `corner` on, `extent` in each dimension. The dimensions of a `dimensions` argument below are bits 0 to
// 2 for x, y, z.
struct Stratum {
  std::array<uint32_t, 3> corner{};
  std::array<uint32_t, 3> extent{};
};

// Returns the product of the extents in `dimensions`.
uint64_t product_of(const std::array<uint32_t, 3>& extent, uint8_t dimensions);

// Halves the longest of `dimensions` until each part has at most `most` CTAs in them.
std::vector<Stratum> strata_of(const Stratum& whole, uint8_t dimensions, uint64_t most);

// Returns a random place in the stratum, equal in every run, with 0 outside `dimensions`.
std::array<uint32_t, 3> drawn_place(const Stratum& stratum, uint8_t dimensions);

// A stratum and its executed CTA.
struct SampledStratum {
  uint64_t ctas = 0;          // different CTAs of the stratum
  uint64_t copies = 1;        // CTAs equal to each of them, in dimensions that are not sampled
  uint64_t instructions = 0;  // instructions of the executed CTA
};

// Returns the half-width of the 95 % confidence interval of the sum of instructions. The variance is estimated from
// pairs of neighbouring strata (collapsed strata; Cochran, Sampling Techniques, 5A.12). It includes the difference
// between the two strata, so the interval is rather too wide.
double half_width(const std::vector<SampledStratum>& strata);

}  // namespace warpfold::sass
