#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] as CUTLASS and cuBLAS run it on Hopper: a producer warp that copies tiles by TMA into a ring of stages
// and two consumer warpgroups that multiply them with wgmma, either both on one tile (cooperative) or each on its own, taking
// turns (ping-pong), in a persistent launch that deals the tiles to the CTAs round robin.
//
//   warp 0            producer        2 bulk loads a k-block
//   warps 1-3         producer_idle   give their registers away and end
//   warps 4-7, 8-11   consumers       wgmma, epilogue
//
// Rings are a CTA's own: that a stage of a cluster may only be refilled when every CTA which multicast reaches has released it is
// not modelled, because all CTAs of a cluster advance alike.
Expected<traces::Kernel> make_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
