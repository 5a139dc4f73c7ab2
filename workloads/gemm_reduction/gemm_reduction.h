#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// The kernel behind a GEMM whose parts of k are stored side by side (cublasLt's splitKreduce_kernel): a thread loads four FP32
// values of every part, adds them, packs them to 16 bits and stores them. Parts come from L2 where all of them fit into the half of
// it that may hold what was written, else from DRAM.
Expected<traces::Kernel> make_gemm_reduction(const configs::GemmReduction& reduction, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
