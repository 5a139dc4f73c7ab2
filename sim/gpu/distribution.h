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

// Deals the CTAs of each launch to its SMs (Launch::sms) before a run. CTAs of equal length (instructions of the longest warp) go
// round the SMs; of unequal length the next one goes to the SM that has been given the least, in place of the first one with room,
// which hardware chooses. A launch begins behind the CTAs of those that are placed before it and may run together with it, where
// they leave SMs empty: hardware takes the SM with the most room (Gilman et al., "Demystifying the Placement Policies of the NVIDIA
// GPU Thread Block Scheduler for Concurrent Kernels", 2020). Else all begin with the same SM, which makes fewer SM classes.
//
//   4 SMs; one kernel of 3 CTAs, another of 3      one: SMs 0, 1, 2      other: SMs 3, 0, 1
Dealing deal(const std::vector<Launch>& launches, bool serialise, uint32_t sm_count);
// Whether the launches that have not been `released` are dealt by themselves as they are behind those that have.
bool deals_rest_alike(const std::vector<Launch>& launches, bool serialise, uint32_t sm_count, const std::vector<bool>& released);
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
// The same without grouping: each SM that receives a CTA, in order of its index.
std::vector<SmClass> each_sm(const Dealing& dealing);

// From when to when an SM had CTAs of a launch; where it had none, both are the time from which on it had room for one.
struct SmPace {
  Cycle start = 0;
  Cycle end = 0;
};

// Whether a run did what hardware does not: an SM had ended all its CTAs of the kernel before the last one began on another SM.
// `paces`: of each SM in that run. `resident`: CTAs that an SM holds at a time.
bool keeps_sm_free(const traces::Kernel& kernel, const std::vector<CtaList>& dealt, const SmRange& range,
                   const std::vector<SmPace>& paces, uint64_t resident);

// The kernel's CTAs dealt again: the next one goes to the SM that would be done with its own first, were it to keep the pace that
// it had with those `dealt` to it. An SM that had none keeps the fastest pace.
//
//   SM   dealt   from   to     cycles a CTA   dealt again   to
//   0    10      2000   3000   100             0            -
//   1    10         0   1000   100            14            1400
//   2    10         0   1000   100            13            1300
//   3    10         0   1000   100            13            1300
std::vector<CtaList> deal_by_pace(const traces::Kernel& kernel, const std::vector<CtaList>& dealt, const SmRange& range,
                                  const std::vector<SmPace>& paces);

}  // namespace warpfold::sim
