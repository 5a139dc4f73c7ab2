#pragma once

#include "configs/report.pb.h"

namespace warpfold::report {

// What changed from run A to run B: the total, each kernel's time, the states of its warps, the resources, the ledger. Figures
// that both runs have alike are left out. Kernels are matched by name; one that only one run has counts as 0 in the other.
// The total comes first, then the largest movers: how much of a run the change is, where the run is
//   the total time of A, for times;
//   the kernel's resident warp-cycles in A (in B where A lacks the kernel), for its states and what others took from it;
//   the capacity of the chip, for resources.
configs::Difference difference_of(const configs::Run& a, const configs::Run& b);

}  // namespace warpfold::report
