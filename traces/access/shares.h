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

// Cache behaviour of a site as the machine uses it (traces::MemoryStream).
struct Served {
  Fraction l1;           // share of requests that L1 serves whole
  Fraction moved{1, 1};  // share of the other requests' bytes that go to L2; their total equals the sectors that miss L1
  Fraction dram;         // share of the bytes that go to L2
};
// 100 requests of 4 sectors, 50 hit whole, 20 more hit half: l1 1/2; 160 sectors go on, 3.2 a request that misses: moved 4/5
Served served(const SiteReuse& used);

}  // namespace warpfold::traces::access
