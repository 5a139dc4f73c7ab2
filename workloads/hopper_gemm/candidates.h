#pragma once

#include <vector>

#include "configs/diagnostic.h"
#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// The kernels that a GEMM with `tile: AUTO` may be run by: what its library offers for the shape, every combination of an offer's
// values, together with what the GEMM states itself, as far as the GPU can run it. One kernel where the library has a rule (the
// fewest waves), in the order of the table otherwise. Fails where nothing is left.
//
//   offer { tile_m: 128 tile_n: 128 tile_n: 256 cluster: "2x1" stages: 4 stages: 3 }    128x128 2x1 with 4 stages, 128x256 2x1 with
//   3
Expected<std::vector<configs::HopperGemm>> gemm_candidates(const configs::HopperGemm& gemm, const configs::GemmLibrary& library,
                                                           const configs::Gpu& gpu);

}  // namespace warpfold::workloads
