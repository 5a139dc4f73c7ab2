#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// How far an SM class does the same as another one, its leader, which has no more to do in anything that both have.
//
//   leader    25 CTAs of class a (7 trips)    one CTA of class b (93 trips)
//   follower  26 CTAs of class a              one CTA of class c (94 trips), otherwise as b
//   part      when 24 have been placed        when a warp of the leader's is on its last trip
struct Likeness {
  struct OfLaunch {
    uint64_t ctas = 0;          // from the first on, which the leader receives as well
    bool all = false;           // both receive no others
    ClassMap class_of;          // the leader's classes to the follower's
    std::vector<bool> differs;  // per parameter of the kernel: the follower's value is the larger one in some class
  };
  std::vector<OfLaunch> launches;
  bool same_classes = true;  // every class is the leader's
};

// Nothing where the two part before they have begun. `one_at_a_time`: no two CTAs are placed on an SM in one cycle.
std::optional<Likeness> likeness(const std::vector<CtaList>& leader, const std::vector<CtaList>& follower,
                                 const std::vector<KernelImage>& images, bool one_at_a_time);

// When the leader has placed so many CTAs of the launch, others come next for the follower.
bool out_of_common(const Likeness::OfLaunch& launch, uint64_t placed);

// The leader's SM may be about to do what the follower's would not. While it is not, what the leader may skip the follower may too:
// it has no fewer trips and CTAs left, and what recurs in the leader's classes recurs in the follower's.
bool part_ways(const Likeness& likeness, const Sm& leader);

// Work that a jump takes from the leader would be taken from the follower as well: neither has more left of any launch released.
bool jump_together(const Likeness& likeness, const Sm& leader);

// The CTAs that all have in common.
std::vector<CtaList> in_common(const std::vector<CtaList>& leader, const std::vector<const Likeness*>& followers);

}  // namespace warpfold::sim
