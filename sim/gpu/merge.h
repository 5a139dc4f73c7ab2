#pragma once

#include <cstdint>
#include <vector>

#include "sim/fold/work.h"
#include "sim/gpu/distribution.h"
#include "sim/sm/kernel_image.h"

namespace warpfold::sim {

// A class of SMs and what its SMs of other classes, which it stands for as well, have to do less, summed over them.
struct MergedClass {
  struct Less {
    Work work;
    uint64_t ctas = 0;
  };
  SmClass sm_class;        // `sms` counts all
  std::vector<Less> less;  // per launch
  bool merged = false;
};

// Joins classes whose work differs by less than `difference`, relative, in every launch: the one with most work stands for the
// others. For bounded runs: of a million CTAs, one more or less on an SM is no reason to simulate another SM.
std::vector<MergedClass> merge_alike(std::vector<SmClass> classes, const std::vector<KernelImage>& images, double difference);

}  // namespace warpfold::sim
