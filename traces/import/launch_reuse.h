#pragma once

#include <cstdint>
#include <vector>

#include "traces/access/reuse.h"
#include "traces/import/explore.h"

namespace warpfold::sass {

// How much of a launch is followed through the caches.
struct ReuseBudget {
  uint64_t l1_lines = uint64_t{1} << 17;  // line touches given to the L1s
  uint64_t l2_lines = uint64_t{1} << 17;  // to L2
  uint64_t searches = uint64_t{1} << 21;  // for the passes of one run
};

// What an analysis followed: lines whose number is a multiple of `every`, on some SMs, in the first `waves` of `of_waves` waves of
// CTAs.
struct Followed {
  enum class Why : uint8_t {
    kNothing,  // to follow
    kFits,     // all that the launch touches, into L2
    kTooMuch,  // different accesses, or loops inside each other
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

// Reuse of the accesses of one array and kind (access::Kind), as shares of what they ask for.
struct ArrayReuse {
  bool linear = true;       // in the CTA and in passes, everywhere; else nothing is followed
  bool in_l1 = false;       // L1 was followed, and
  double requests = 0;      // of them L1 has every sector
  double l1_sectors = 0;    // of all: L1 has them
  bool in_l2 = false;       // L2 was followed, and
  double dram_sectors = 0;  // of all: L2 lacks them, whether L1 has them or not; of stores: written back
};

struct LaunchReuse {
  std::vector<std::array<ArrayReuse, kKinds>> arrays;
  Followed l1;
  Followed l2;
};

// Which share of the launch's accesses L1 and L2 serve, by the reuse of lines (access::ReuseAnalysis) in two streams: that of
// some SMs, for their L1s, and that of all SMs, for L2. Of each, one line in so many is followed, in caches that are as much
// smaller, so that the cost is bounded whatever trip counts and grids are. Waves beyond what is followed count as the second half
// of those that are. Not followed are arrays whose accesses move otherwise than linearly somewhere, and launches with too many
// loops inside each other to be searched.
LaunchReuse launch_reuse(const Exploration& found, const LaunchFacts& launch, const access::CacheSpec& caches, bool with_l2,
                         const ReuseBudget& budget = {});

}  // namespace warpfold::sass
