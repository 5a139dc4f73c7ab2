#pragma once

#include <cstdint>
#include <vector>

#include "traces/access/reuse.h"
#include "traces/import/explore.h"

namespace warpfold::sass {

// Limits on the analysis of a launch's reuse.
struct ReuseBudget {
  uint64_t l1_lines = uint64_t{1} << 17;  // line touches given to the L1s
  uint64_t l2_lines = uint64_t{1} << 17;  // line touches given to L2
  uint64_t searches = uint64_t{1} << 21;  // searches for the passes of a run
};

// Sample of an analysis: lines whose number is a multiple of `every`, on some SMs, in the first `waves` of `of_waves`
// waves of CTAs.
struct Followed {
  enum class Why : uint8_t {
    kNothing,  // no accesses to follow
    kFits,     // all that the launch touches fits into L2
    kTooMuch,  // too many different accesses, or loops nested too deeply
    kFollowed,
  };
  Why why = Why::kNothing;
  uint64_t every = 1;
  uint32_t sms = 0;
  uint32_t of_sms = 0;
  uint64_t waves = 0;
  uint64_t of_waves = 0;
  uint64_t searches = 0;
  uint64_t touches = 0;
};

// Reuse of the accesses of one array and kind (access::Kind), as shares of the requests or sectors.
struct ArrayReuse {
  bool linear = true;       // all addresses are linear in the CTA and in passes; else not followed
  bool in_l1 = false;       // L1 was followed
  double requests = 0;      // share of requests with every sector in L1
  double l1_sectors = 0;    // share of sectors that hit L1
  bool in_l2 = false;       // L2 was followed
  double dram_sectors = 0;  // share of sectors that miss L2, whether they hit L1 or not; for stores, share written back
};

struct LaunchReuse {
  std::vector<std::array<ArrayReuse, kKinds>> arrays;
  Followed l1;
  Followed l2;
};

// Estimates the shares of the launch's accesses that L1 and L2 serve, by the reuse of lines (access::ReuseAnalysis).
// Two streams are analysed: the accesses of some SMs for their L1s, and the accesses of all SMs for L2. In each only
// one line in `every` is followed, in a cache smaller by the same factor, so the cost is bounded for any trip
// counts and grids. Waves that are not followed count like the second half of the followed waves. Arrays with accesses
// that are not linear are not followed, and neither are launches with too many nested loops to search.
LaunchReuse launch_reuse(const Exploration& found, const LaunchFacts& launch, const access::CacheSpec& caches, bool with_l2,
                         const ReuseBudget& budget = {});

}  // namespace warpfold::sass
