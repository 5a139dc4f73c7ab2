#pragma once

#include <vector>

#include "configs/diagnostic.h"
#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// Returns the kernels that may run a GEMM with `tile: AUTO`. They are all combinations of the values in its library's offers for
// this shape, merged with the fields that the GEMM states itself, as far as the GPU can run them. A library with a rule (fewest
// waves) yields one kernel; otherwise the kernels are in the order of the table. Fails if no kernel is left.
//
//   offer { tile_m: 128 tile_n: 128 tile_n: 256 cluster: "2x1" stages: 4 stages: 3 }
//   gives 128x128 2x1 with 4 stages, and 128x256 2x1 with 3
Expected<std::vector<configs::HopperGemm>> gemm_candidates(const configs::HopperGemm& gemm, const configs::GemmLibrary& library,
                                                           const configs::Gpu& gpu);

}  // namespace warpfold::workloads
