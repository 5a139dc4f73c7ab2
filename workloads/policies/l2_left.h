#pragma once

#include <cstdint>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// Reduces the DRAM reads of kernels that begin with L2 AS_LEFT by the bytes that earlier launches have left in L2, in tensors that
// both touch (Kernel.tensor). Every launch is assumed to pass through all of its tensors at the same pace, each from begin to end.
// A byte at fraction p of a tensor that launch j touches and launch k reads then has the reuse distance
//
//   (1 - p) x bytes that j touches + p x bytes that k touches + bytes that launches between or beside them touch
//
// in distinct bytes. The probability that the byte is still in L2 follows from this distance (key_reuse.h): L2 is LRU.
//
//   a GEMM reads A and B, 20 MB each, and writes C, 20 MB; a pass reads C and writes D, 20 MB; L2 of 50 MB
//   p = 0: 60 MB since; p = 1: 40 MB since: the first bytes of C are gone, the last are there
//
// A launch is between or beside j and k if it has not ended when j begins and does not wait for k. Only a stream's first read of
// each byte can hit such data. Repeated DRAM reads, made because L2 is too small for the kernel's own reuse, remain. Shares are
// rounded to 1/1024.
//
// Fails if a tensor is named that does not exist, or if the policy splits or joins a kernel that begins with L2 AS_LEFT or that
// left the data which such a kernel reads.
Expected<void> begin_as_left(const configs::Scenario& scenario, uint64_t l2_bytes, Plan& plan);

}  // namespace warpfold::policies
