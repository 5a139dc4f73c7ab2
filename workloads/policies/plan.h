#pragma once

#include <cstdint>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// Makes each kernel of the scenario one launch, as written: the starting point of most policies.
Expected<Plan> plan_as_written(const configs::Scenario& scenario, workloads::KernelMaker& kernels);
// The same launches, with streams side by side on the same SMs; kernels from listings get shares of the caches (cache_shares.h).
Expected<Plan> plan_side_by_side(const configs::Scenario& scenario, workloads::KernelMaker& kernels);
// The same launches, one after the other; each finds the data in L2 that earlier launches left.
Expected<Plan> plan_in_sequence(const configs::Scenario& scenario, workloads::KernelMaker& kernels);

// Returns a kernel's path in messages, for example "kernel[2]".
std::string path_of_kernel(int position);

// Bytes of the random bits that a scenario's Philox kernels store, at one bit per element.
uint64_t stored_bits_bytes(const configs::Scenario& scenario);
uint64_t elements(const configs::Philox& philox);

}  // namespace warpfold::policies
