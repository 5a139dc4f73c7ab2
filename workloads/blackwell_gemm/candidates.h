#pragma once

#include <vector>

#include "configs/diagnostic.h"
#include "configs/gemm_library.pb.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// Returns the kernels that may run a GEMM with `tile: AUTO`, in the order of the table. They are its library's offers for
// Blackwell, merged with the fields that the GEMM states itself, as far as the GPU can run them. Fails if none is left.
Expected<std::vector<configs::BlackwellGemm>> blackwell_candidates(const configs::BlackwellGemm& gemm,
                                                                   const configs::GemmLibrary& library, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
