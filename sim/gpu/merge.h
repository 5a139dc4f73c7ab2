#pragma once

#include <cstdint>
#include <vector>

#include "sim/fold/work.h"
#include "sim/gpu/distribution.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// A class of SMs and what its SMs of other classes, which it stands for as well, have to do less, summed over them: modulo 2^64,
// since of bytes and CTAs they may have more.
struct MergedClass {
  struct Less {
    Work work;
    uint64_t ctas = 0;
  };
  SmClass sm_class;        // `sms` counts all
  std::vector<Less> less;  // per launch
  bool merged = false;
};

// Joins classes none of which can be the last to end, for bounded runs: of a million CTAs, one more or less on an SM is no reason
// to simulate another SM; of a few, whose warps drift against each other, it is. A class is left out if a mean of two that stay has
// as many instructions in every launch, and as many bytes and CTAs and as late an end but for the share `difference`; both differ
// from it by less than that in instructions. When a launch ends is reckoned from what each of its CTAs has to do, in their order;
// where that may be wrong by more than `difference`, none of its CTAs may have more to do than the one in its place of both; beside
// other launches, CTAs whose lengths are that far apart must be the very same. In a launch by itself a class that surely ends
// before another is left out as well, if one that stays has some 2 % more or fewer instructions. The one most like it stands for
// it.
//
//   instructions  CTAs     difference 5 %
//   100           10       simulated: it has most instructions
//    98           14       simulated: it has most CTAs
//    98.5         12       stood for: 1/2 of each is 99 and 12
//    96           11       stood for
//    94            9       simulated: too far from any
std::vector<MergedClass> merge_alike(std::vector<SmClass> classes, const std::vector<KernelImage>& images, double difference);

}  // namespace warpfold::sim
