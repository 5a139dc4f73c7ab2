#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// One pass over arrays: copy, scale, add or triad, as in BabelStream. A thread loads its accesses of every input, computes, and
// stores. The accesses of a warp are contiguous. Every byte comes from or goes to DRAM, since the arrays are assumed to be larger
// than L2.
//
// The instructions are the fewest that do the work: index, one 64-bit address per array, loads, arithmetic, stores. The guarded
// exit of threads beyond the end of the arrays is omitted, since a trace holds executed instructions only.
Expected<traces::Kernel> make_elementwise(const configs::Elementwise& elementwise, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
