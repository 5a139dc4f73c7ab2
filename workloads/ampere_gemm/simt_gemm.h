#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] in FP32 on the FMA pipe, as in cuBLAS's sgemm and CUTLASS's SIMT kernels (sources in simt_plan.h). Each
// CTA computes one tile, and all its warps run the same program:
//
//   prologue    copies fill all stages of a ring but one
//   main loop   a k-tile: copies of a later stage, LDS.128, FFMA; a barrier of the CTA (simt_warp.h)
//   epilogue    sums of the slices are added through shared memory, FMUL by alpha, 16-byte stores
//
// A tile may reach beyond the matrix. Elements outside it are multiplied as zeros but neither loaded nor stored. With split_k, each
// part stores its sums to memory in FP32, and a gemm_reduction kernel adds them.
//
// Fails for a tile that the threads cannot share (simt_plan.h), and for a CTA that does not fit an SM.
Expected<traces::Kernel> make_simt_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
