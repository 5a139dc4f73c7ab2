#pragma once

#include <functional>
#include <string>
#include <vector>

#include "traces/import/access_pattern.h"
#include "traces/import/cta_sample.h"
#include "traces/import/flow.h"
#include "traces/import/footprint.h"
#include "traces/import/launch_facts.h"
#include "traces/import/limits.h"
#include "traces/import/path.h"

namespace warpfold::sass {

// CTAs at one place of their clusters, of which every warp goes the same way as in all others of the box.
struct CtaBox {
  std::array<uint32_t, 3> place{};   // in its cluster, that of each
  std::array<uint32_t, 3> corner{};  // the first cluster
  std::array<uint32_t, 3> extent{};  // clusters
  std::vector<int> paths;            // of each warp, an index into Exploration::paths
  bool sampled = false;              // one CTA was drawn and represents the box (cta_sample.h)

  uint64_t ctas() const { return uint64_t{extent[0]} * extent[1] * extent[2]; }
};

struct Exploration {
  std::vector<Path> paths;  // different ones
  std::vector<CtaBox> boxes;
  std::vector<std::array<ArrayTraffic, kKinds>> traffic;  // of each array, by access::Kind
  std::vector<Reach> reach;                               // of each array, by loads and stores of threads
  std::vector<AccessPattern> accesses;                    // of arrays, in all boxes
  bool all_accesses = true;                               // are there; else they were too many
  std::map<int, std::string> assumed;                     // by line of the listing
  uint64_t followed_ctas = 0;                             // executed one by one
  std::vector<SampledStratum> strata;                     // of launches of which a sample was executed
  uint64_t executed = 0;                                  // instructions
};

// Of paths, those that some warp goes.
void keep_used_paths(Exploration& found);

// CTAs that are represented so far, and all.
using ExploreProgress = std::function<void(uint64_t done, uint64_t ctas)>;

// Follows every warp of every CTA, each place of a cluster for itself. One CTA represents all that decide in the same way as far as
// that is a matter of linear inequalities in its index. CTAs whose way hangs on their index otherwise (a remainder, a table) are
// followed one by one, or a sample of them where they are more than `limits` allows.
// `questions`: takes all questions of the CTA where the launch description lacks an answer.
Expected<Exploration> explore(const std::string& file, const std::vector<Op>& ops, const Flow& flow, const LaunchFacts& launch,
                              const Limits& limits, std::vector<std::string>* questions = nullptr,
                              const ExploreProgress& progress = {});

}  // namespace warpfold::sass
