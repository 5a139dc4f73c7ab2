#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] with mma.sync: a ring of stages filled by cp.async, ldmatrix, m16n8k16. One tile a CTA.
Expected<traces::Kernel> make_ampere_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
