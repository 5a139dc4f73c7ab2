#pragma once

#include <cstdint>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::sim {

// A row of SMs: `count` of them from `first` on; a count of 0 is every SM of the chip.
struct SmRange {
  uint32_t first = 0;
  uint32_t count = 0;

  bool operator==(const SmRange&) const = default;
};

// SMs that receive the same CTA-class sequence of every launch behave alike: one of them stands for all.
struct SmClass {
  uint64_t sms = 0;
  std::vector<std::vector<traces::CtaRun>> ctas;  // [launch]: what each of these SMs runs, in order
};

// Deals the CTAs of each kernel to the SMs and groups SMs that receive the same. CTAs of equal length (instructions of the longest
// warp) go round the SMs, CTA i to SM i mod sm_count; of unequal length the next one goes to the SM that has been given the least,
// which stands for the first one with room, as hardware chooses. `ranges`: the SMs of each kernel, among which alone its CTAs are
// dealt; none: all SMs are everybody's.
std::vector<SmClass> distribute(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                                const std::vector<SmRange>& ranges = {});
// The same without grouping: each SM that receives a CTA, in order of its index.
std::vector<SmClass> each_sm(const std::vector<const traces::Kernel*>& kernels, uint32_t sm_count,
                             const std::vector<SmRange>& ranges = {});

}  // namespace warpfold::sim
