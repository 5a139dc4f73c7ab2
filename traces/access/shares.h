#pragma once

#include <cstdint>

#include "traces/access/reuse.h"

namespace warpfold::traces::access {

// Simplest fraction within half a percent of numerator / denominator. For small shares the tolerance is 1/2000, but at
// most a quarter of the share. A small denominator lets the accumulator of the share return to its start sooner.
struct Fraction {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  bool operator==(const Fraction&) const = default;
};
Fraction simplest(uint64_t numerator, uint64_t denominator);
// As above with a power of two up to 4096 as the denominator. Shares of single requests recur with such a denominator.
Fraction simplest_binary(uint64_t numerator, uint64_t denominator);

// Returns the bytes that a request moves if L1 does not serve it whole, relative to the bytes it requests. `l1`, below
// 1, is the share of requests that L1 serves whole. Sectors that L1 serves of other requests reduce their bytes, so
// that the total equals the bytes that go to L2.
//
//   100 requests of 4 sectors, 50 hit whole, 20 more hit half:  l1 1/2, 160 sectors go on, 3.2 a request that misses: 0.8
double moved_share(const SiteReuse& used, const Fraction& l1);

// Cache behaviour of a site as the machine uses it.
struct Served {
  bool in_l1 = false;  // every request hits L1 whole, so no bytes move
  Fraction l1;         // share of requests that L1 serves whole
  double moved = 1;    // moved_share() of the other requests
  Fraction dram;       // share of the bytes that go to L2
};
Served served(const SiteReuse& used);

}  // namespace warpfold::traces::access
