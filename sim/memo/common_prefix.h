#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// How far the program's questions have the same answers for an SM class as for another one, its leader, which has no more work in
// anything that both have. Up to there the follower shares its leader's SM.
//
//   leader    25 CTAs of class a (7 trips)    one CTA of class b (93 trips)
//   follower  26 CTAs of class a              one CTA of class c (94 trips), otherwise as b
//   diverges  when 24 have been placed        when a warp of the leader's is on its last trip
struct CommonPrefix {
  struct OfLaunch {
    uint64_t ctas = 0;          // from the first on, which the leader receives as well
    bool all = false;           // both receive no others
    ClassMap class_of;          // the leader's classes to the follower's
    std::vector<bool> differs;  // per parameter of the kernel: the follower's value is the larger one in some class
  };
  std::vector<OfLaunch> launches;
  bool same_classes = true;  // every class is the leader's
};

// Nothing where the two diverge before they have begun. `one_at_a_time`: no two CTAs are placed on an SM in one cycle.
std::optional<CommonPrefix> common_prefix(const std::vector<CtaList>& leader, const std::vector<CtaList>& follower,
                                          const std::vector<KernelImage>& images, bool one_at_a_time);

// When the leader has placed so many CTAs of the launch, the follower's next one is another.
bool prefix_exhausted(const CommonPrefix::OfLaunch& launch, uint64_t placed);

// The next answer may be another for the follower. While it is not, what the leader may skip the follower may too: it has no fewer
// trips and CTAs left, and what recurs in the leader's classes recurs in the follower's.
bool diverges(const CommonPrefix& prefix, const Sm& leader);

// Work that is taken from the leader by rates may be taken from the follower as well: neither has more left of any launch released.
bool equal_work_left(const CommonPrefix& prefix, const Sm& leader);

// The CTAs that all have in common.
std::vector<CtaList> common_ctas(const std::vector<CtaList>& leader, const std::vector<const CommonPrefix*>& followers);

}  // namespace warpfold::sim
