#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] in FP32 on the FMA pipe, as cuBLAS's sgemm and CUTLASS's SIMT kernels do it (simt_plan.h has the sources).
// One tile a CTA, whose warps are equal:
//
//   prologue    copies fill all stages of a ring but one
//   main loop   a k-tile: copies of the stage ahead, LDS.128, FFMA; a barrier of the CTA (simt_warp.h)
//   epilogue    slices' sums meet in shared memory, FMUL by alpha, 16-byte stores
//
// Tiles may reach beyond the matrix: they multiply zeros there, and neither load nor store them. With split_k each part's sums go
// to memory in FP32; a gemm_reduction kernel adds them.
//
// Fails for a tile that threads cannot share (simt_plan.h), and a CTA that does not fit an SM.
Expected<traces::Kernel> make_simt_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
