#pragma once

#include "configs/report.pb.h"

namespace warpfold::report {

// Returns the changes from run A to run B: in the total time, each kernel's time, the states of its warps, the resources and the
// ledger. Figures that are equal in both runs are left out. Kernels are matched by name; a kernel that only one run has counts as 0
// in the other.
//
// The total comes first, then the other changes by size, as a share of
//   the total time of A, for times;
//   the kernel's resident warp-cycles in A (in B if A lacks the kernel), for its states and its ledger entries;
//   the capacity of the chip, for resources.
configs::Difference difference_of(const configs::Run& a, const configs::Run& b);

}  // namespace warpfold::report
