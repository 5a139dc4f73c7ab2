#pragma once

#include <cstdint>
#include <vector>

#include "sim/engine/time.h"
#include "sim/memo/sm_class.h"
#include "traces/kernel.h"
#include "traces/launch.h"

namespace warpfold::sim {

using traces::Launch;
using traces::SmRange;

// The CTAs that each SM receives of each launch, in order: [launch][SM].
using Dealing = std::vector<std::vector<CtaList>>;

// Deals the CTAs of each launch to its SMs (Launch::sms) before a run, as if SMs were equally fast. CTAs of equal length
// (instructions of the longest warp) go round the SMs; of unequal length the next one goes to the SM that has been given the least.
Dealing deal(const std::vector<Launch>& launches, uint32_t sm_count);
// Whether CTAs of equal length follow each other in the whole grid.
bool equally_long(const traces::Kernel& kernel);
// A kernel by itself.
Dealing deal(const traces::Kernel& kernel, uint32_t sm_count);

// What one SM receives: [launch].
std::vector<CtaList> received(const Dealing& dealing, size_t sm);

// An order of what SMs receive.
struct InOrder {
  bool operator()(const std::vector<CtaList>& one, const std::vector<CtaList>& other) const;
};

// SMs that receive the same, grouped; those that receive nothing make no class.
std::vector<SmClass> sm_classes(const Dealing& dealing);

}  // namespace warpfold::sim
