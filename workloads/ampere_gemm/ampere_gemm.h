#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] with mma.sync. A, B and C have 16 bits (FP16 or BF16), sums FP32. TF32, INT8 and FP8 run the same loop
// (plan.h). Each CTA computes one tile, and all its warps run the same program:
//
//   prologue    cp.async fills all stages of a ring but one
//   main loop   a stage of k: cp.async of a later stage, ldmatrix, m16n8k16; a barrier of the CTA
//   epilogue    sums are packed and stored
//
// FP32 operands take the kernel of simt_gemm.h instead, on any GPU.
//
// Fails for a GPU without cp.async or m16n8k16 (before sm_80), and for a type that its mma.sync does not have. Fails also for a
// tile whose main loop was not recorded (plan.h), a k shorter than the ring (stages x tile_k), and a CTA whose shared memory does
// not fit an SM.
Expected<traces::Kernel> make_ampere_gemm(const configs::AmpereGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
