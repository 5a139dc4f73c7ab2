#pragma once

#include <cstdint>

#include "workloads/policies/policy.h"

namespace warpfold::policies {

// What launches whose kernel begins with L2 AS_LEFT read from DRAM: less what launches before them have left of the tensors that
// both touch (Kernel.tensor). Every launch goes through all of its tensors at one pace, each from its begin to its end; then a byte
// at part p of a tensor that launch j touches and launch k reads has the reuse distance
//
//   (1 - p) x what j touches + p x what k touches + what launches between or beside them touch
//
// in distinct bytes, and it is in L2 with the probability of that (key_reuse.h): L2 drops what was used least recently.
//
//   a GEMM reads A and B, 20 MB each, and writes C, 20 MB; a pass reads C and writes D, 20 MB; L2 of 50 MB
//   p = 0: 60 MB since; p = 1: 40 MB since: the first bytes of C are gone, the last are there
//
// A launch between or beside: one that has not ended when j begins and does not wait for k. A stream's first read of each byte is
// what may be found; what the kernel reads from DRAM again, because L2 is too small for its own reuse, it still does. Shares are
// rounded to 1/1024.
//
// Fails where a tensor is named that is not there, and where the policy cuts or joins a kernel that begins so, or that left what it
// reads.
Expected<void> begin_as_left(const configs::Scenario& scenario, uint64_t l2_bytes, Plan& plan);

}  // namespace warpfold::policies
