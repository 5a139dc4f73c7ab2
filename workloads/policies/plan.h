#pragma once

#include <cstdint>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// The scenario's kernels as they are written, each one launch: where most policies start.
Expected<Plan> plan_as_written(const configs::Scenario& scenario, workloads::KernelMaker& kernels);
// The same in streams side by side on the same SMs, where kernels leave each other parts of the caches (cache_shares.h).
Expected<Plan> plan_side_by_side(const configs::Scenario& scenario, workloads::KernelMaker& kernels);
// The same one after the other, each with what it finds in L2 then.
Expected<Plan> plan_in_sequence(const configs::Scenario& scenario, workloads::KernelMaker& kernels);

// "kernel[2]"
std::string path_of_kernel(int position);

// Bytes of the bits that a scenario's Philox kernels leave: one bit an element.
uint64_t stored_bits_bytes(const configs::Scenario& scenario);
uint64_t elements(const configs::Philox& philox);

}  // namespace warpfold::policies
