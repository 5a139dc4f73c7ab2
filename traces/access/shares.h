#pragma once

#include <cstdint>

#include "traces/access/reuse.h"

namespace warpfold::traces::access {

// The simplest fraction within half a percent of numerator / denominator, or within 1/1000 where the share is small or nearly
// whole: what accumulates comes back the sooner, the smaller the denominator.
struct Fraction {
  uint64_t numerator = 0;
  uint64_t denominator = 1;
  double value() const { return static_cast<double>(numerator) / static_cast<double>(denominator); }
  bool operator==(const Fraction&) const = default;
};
Fraction simplest(uint64_t numerator, uint64_t denominator);
// The same with a power of two below, up to 4096, which is what shares of single requests recur with.
Fraction simplest_binary(uint64_t numerator, uint64_t denominator);

// What a request that L1 does not serve moves, over what a request asks for. `l1`, below 1, is the share of requests that L1 serves
// whole: the others move what it served of single sectors less, so that all together move what goes on to L2.
//
//   100 requests of 4 sectors, 50 hit whole, 20 more hit half:  l1 1/2, 160 sectors go on, 3.2 a request that misses: 0.8
double moved_share(const SiteReuse& used, const Fraction& l1);

// What the machine is told of accesses that are reused so.
struct Served {
  bool in_l1 = false;  // every request, whole: nothing moves
  Fraction l1;         // of requests, that L1 serves whole
  double moved = 1;    // moved_share of the others
  Fraction dram;       // of what goes on to L2
};
Served served(const SiteReuse& used);

}  // namespace warpfold::traces::access
