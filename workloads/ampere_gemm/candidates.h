#pragma once

#include <vector>

#include "configs/diagnostic.h"
#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// The kernels that a GEMM with `tile: AUTO` may be run by: the offers of its library that are of mma.sync, together with what the
// GEMM states itself, as far as they were recorded and the GPU can run them, in the order of the table. Fails where nothing is
// left.
Expected<std::vector<configs::AmpereGemm>> ampere_candidates(const configs::AmpereGemm& gemm, const configs::GemmLibrary& library,
                                                             const configs::Gpu& gpu);

}  // namespace warpfold::workloads
