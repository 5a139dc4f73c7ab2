#pragma once

#include <cstdint>
#include <vector>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// The load that a kernel puts on a cache.
struct CacheDemand {
  double rate = 0;   // bytes, or requests, in a unit of time that is the same for all kernels
  double bytes = 0;  // distinct bytes that it touches
};

// Returns the bytes of a shared cache that each kernel occupies. An LRU cache holds the data of a time span that is the same for
// every kernel. Each kernel's part is therefore proportional to its rate, and at most the bytes that it touches.
//
//   96 MB; two kernels of equal rates that touch 40 and 80 MB: 40 and 56
std::vector<double> parts_of_cache(double cache_bytes, const std::vector<CacheDemand>& demands);

// Computes the hit shares of kernels from listings for the time in which other launches run (traces::LaunchPlan::beside): each
// kernel then sees only its part of L1 and L2. The hits follow from the reuse of the kernel's addresses. If kernels share SMs
// (`same_sms`), L1 is the data memory that the shared memory of all of them leaves free, divided by requests; L2 is divided by
// bytes. Both rates are per instruction of the kernel, times its resident warps, because the kernels share the issue slots. A
// kernel that may overlap with several others gets the part that it has beside all of them.
Expected<void> share_caches(const configs::Scenario& scenario, bool same_sms, workloads::KernelMaker& kernels, Plan& plan);

}  // namespace warpfold::policies
