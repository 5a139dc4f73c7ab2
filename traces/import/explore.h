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

// CTAs at the same place of their clusters whose warps take the same paths.
struct CtaBox {
  std::array<uint32_t, 3> place{};   // place in the cluster, common to all
  std::array<uint32_t, 3> corner{};  // first cluster
  std::array<uint32_t, 3> extent{};  // number of clusters
  std::vector<int> paths;            // index into Exploration::paths, per warp
  bool sampled = false;              // one CTA was drawn and represents the box (cta_sample.h)

  uint64_t ctas() const { return uint64_t{extent[0]} * extent[1] * extent[2]; }
};

struct Exploration {
  std::vector<Path> paths;  // distinct paths
  std::vector<CtaBox> boxes;
  std::vector<std::array<ArrayTraffic, kKinds>> traffic;  // per array, by access::Kind
  std::vector<Reach> reach;                               // per array, by loads and stores of threads
  std::vector<AccessPattern> accesses;                    // accesses to arrays in all boxes
  bool all_accesses = true;                               // false: too many accesses to list
  std::map<int, std::string> assumed;                     // assumptions by line of the listing
  uint64_t followed_ctas = 0;                             // CTAs executed one by one
  std::vector<SampledStratum> strata;                     // strata of a launch of which only a sample was executed
  uint64_t executed = 0;                                  // executed instructions
};

// Removes paths that no warp takes.
void keep_used_paths(Exploration& found);

// `done`: CTAs represented so far; `ctas`: all CTAs.
using ExploreProgress = std::function<void(uint64_t done, uint64_t ctas)>;

// Follows every warp of every CTA, separately for each place in the cluster. One CTA represents all CTAs that decide in
// the same way, as far as the decisions are linear inequalities in the index. CTAs whose path depends on their index
// otherwise (a remainder, a table) are followed one by one. If these are more than `limits` allows, only a sample is
// followed. `questions` receives all questions of the CTA at which the launch description lacks an answer.
Expected<Exploration> explore(const std::string& file, const std::vector<Op>& ops, const Flow& flow, const LaunchFacts& launch,
                              const Limits& limits, std::vector<std::string>* questions = nullptr,
                              const ExploreProgress& progress = {});

}  // namespace warpfold::sass
