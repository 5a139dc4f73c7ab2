#pragma once

#include <cstdint>
#include <vector>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// What a kernel asks of a cache.
struct CacheDemand {
  double rate = 0;   // bytes, or requests, in a time that is the same for all kernels
  double bytes = 0;  // that it touches at all
};

// Bytes that each kernel has of a cache that all use at once. A cache that drops what was used least recently holds what came in a
// time, the same for all: each kernel's part is as its rate, but no more than it touches.
//
//   96 MB; two kernels of equal rates that touch 40 and 80 MB: 40 and 56
std::vector<double> parts_of_cache(double cache_bytes, const std::vector<CacheDemand>& demands);

// Kernels from listings whose launches may overlap with others meet the part of L1 and L2 that those leave: their shares of hits
// are found again, by the reuse of their addresses. On the same SMs (`same_sms`), L1 is what shared memory of all leaves, in parts
// by requests; L2 is in parts by bytes; both by instruction and resident warp, for the issue slots are shared. Alone each has all.
Expected<void> share_caches(const configs::Scenario& scenario, bool same_sms, workloads::KernelMaker& kernels, Plan& plan);

}  // namespace warpfold::policies
