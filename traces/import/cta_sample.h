#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace warpfold::sass {

// A stratified sample of CTAs, for launches whose CTAs take too many different paths to execute each.
//
// The grid is cut into strata, boxes of neighbouring CTAs of nearly equal size. One CTA of each stratum, drawn at random, is
// executed and represents the stratum. Neighbours take similar paths in most kernels, so that strata differ little inside. A drawn
// CTA, unlike every n-th one, is not in step with a period of the index (parity, remainders).

// Clusters from `corner` on; `extent` of them each way. The variables of `sampled` (bits 0 to 2: x, y, z) have one CTA for all.
struct Stratum {
  std::array<uint32_t, 3> corner{};
  std::array<uint32_t, 3> extent{};
};

// The product of the extents in the dimensions of `dimensions`.
uint64_t product_of(const std::array<uint32_t, 3>& extent, uint8_t dimensions);

// Halves the longest of `dimensions` until each part has at most `most` CTAs in them.
std::vector<Stratum> strata_of(const Stratum& whole, uint8_t dimensions, uint64_t most);

// A place in the stratum, the same in every run: 0 in other dimensions than `dimensions`.
std::array<uint32_t, 3> drawn_place(const Stratum& stratum, uint8_t dimensions);

// One executed CTA stands for its stratum.
struct SampledStratum {
  uint64_t ctas = 0;          // of the stratum, that differ
  uint64_t copies = 1;        // CTAs that are as each of those, in dimensions that are not sampled
  uint64_t instructions = 0;  // of the executed CTA
};

// The half-width of the 95 % confidence interval of the sum of instructions: neighbouring strata in pairs (collapsed strata;
// Cochran, Sampling Techniques, 5A.12). Their difference includes what differs between the two strata, so that the interval is
// rather too wide.
double half_width(const std::vector<SampledStratum>& strata);

}  // namespace warpfold::sass
