#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "tools/profile/execution_trace.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// Launches of different groups that do not depend on each other.
struct IndependentPairs {
  // By two groups, the smaller first: number of pairs of launches, one of each group, of which none needs the other's results,
  // directly or through launches between them. A launch is in at most one pair of two groups.
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> pairs;
  std::vector<uint64_t> known;    // by group: launches whose operator is in the execution trace; others are not paired
  uint64_t unknown_launches = 0;  // of the whole profile: dependences through them are not known
};

constexpr uint32_t kNoGroup = UINT32_MAX;

// A launch depends on the last launch that wrote a storage which it reads. A launch that changes a storage in place
// depends on the launches that have read the storage since. A storage that an operator only writes is new: a second stream would
// have it elsewhere. `group_of_launch`: below `groups`, or kNoGroup for launches that are not paired.
IndependentPairs independent_pairs(const Profile& profile, const ExecutionTrace& trace, uint32_t groups,
                                   std::span<const uint32_t> group_of_launch);

}  // namespace warpfold::profile
