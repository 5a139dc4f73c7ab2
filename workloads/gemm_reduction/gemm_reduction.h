#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// The kernel that follows a GEMM whose parts of k are stored side by side (cublasLt's splitKreduce_kernel). A thread loads four
// FP32 values of every part, adds them, converts them to the output type and stores them. The parts come from L2 if all of them fit
// in the half of it that may hold written data; otherwise they come from DRAM.
Expected<traces::Kernel> make_gemm_reduction(const configs::GemmReduction& reduction, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
