#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] as CUTLASS and cuBLAS run it on Hopper. A producer warp copies tiles by TMA into a ring of stages. Two
// consumer warpgroups multiply them with wgmma, either both on one tile (cooperative) or each on a tile of its own, in turns
// (ping-pong). The launch is persistent: the CTAs take tiles round robin.
//
//   warp 0            producer        2 bulk loads a k-block
//   warps 1-3         producer_idle   give their registers away and end
//   warps 4-7, 8-11   consumers       wgmma, epilogue
//
// Each CTA has rings of its own. On hardware a stage of a cluster may be refilled only after every CTA that its multicast reaches
// has released it. This is not modelled, because all CTAs of a cluster advance in step.
Expected<traces::Kernel> make_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
