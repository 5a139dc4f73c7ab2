#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// One pass over arrays: copy, scale, add, triad, as BabelStream has them. A thread loads its accesses of every input, computes, and
// stores; a warp's accesses lie side by side. Every byte comes from DRAM and goes there: the arrays are taken to be larger than L2.
//
// The instructions are the least that does the work: index, one 64-bit address an array, loads, arithmetic, stores. The guarded
// exit of threads behind the end of the arrays is left out, since traces hold what runs.
Expected<traces::Kernel> make_elementwise(const configs::Elementwise& elementwise, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
