#pragma once

#include <array>
#include <string>
#include <vector>

#include "traces/import/launch_reuse.h"

namespace warpfold::sass {

// A function of a listing in tests/import/data, launched.
struct Launched {
  Listing listing;
  std::vector<Op> ops;
  Flow flow;
  LaunchFacts launch;
};
Launched launched(const std::string& listing, const std::string& description);

// Shares of one array and kind of access, over its requests.
struct ReuseShares {
  double requests = 0;  // that L1 serves whole
  double l1 = 0;        // sectors that L1 has
  double dram = 0;      // sectors that come from DRAM, or are written back
};
using AllShares = std::vector<std::array<ReuseShares, kKinds>>;  // by array

// Every access of every pass, warp and CTA, executed one by one, through a whole L1 of each SM and a whole L2 (access::LruCache).
AllShares exact_shares(const Launched& of, const access::CacheSpec& caches);
// The importer's shares, and the number of requests for each byte whose reuse it does not follow.
struct ImportedShares {
  AllShares shares;
  Followed l1;
  Followed l2;
};
ImportedShares imported_shares(const Launched& of, const access::CacheSpec& caches, const ReuseBudget& budget);
// The largest difference.
double apart(const AllShares& one, const AllShares& other);

}  // namespace warpfold::sass
