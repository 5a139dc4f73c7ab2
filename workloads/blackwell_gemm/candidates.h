#pragma once

#include <vector>

#include "configs/diagnostic.h"
#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// The kernels that a GEMM with `tile: AUTO` may be run by: the offers of its library that are for Blackwell, together with what the
// GEMM states itself, as far as the GPU can run them, in the order of the table. Fails where nothing is left.
Expected<std::vector<configs::BlackwellGemm>> blackwell_candidates(const configs::BlackwellGemm& gemm,
                                                                   const configs::GemmLibrary& library, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
