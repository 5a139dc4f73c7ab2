#pragma once

#include <cstdint>
#include <vector>

#include "sim/memo/sm_class.h"
#include "traces/kernel.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::SmRange;

// Deals the CTAs of each kernel to the SMs and groups SMs that receive the same. CTAs of equal length (instructions of the longest
// warp) go round the SMs, CTA i to SM i mod sm_count; of unequal length the next one goes to the SM that has been given the least,
// in place of the first one with room, which hardware chooses. `ranges`: the SMs of each kernel, among which alone its CTAs are
// dealt; none: every kernel has all SMs.
std::vector<SmClass> distribute(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                                const std::vector<SmRange>& ranges = {});
// The same without grouping: each SM that receives a CTA, in order of its index.
std::vector<SmClass> each_sm(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                             const std::vector<SmRange>& ranges = {});

}  // namespace warpfold::sim
