#pragma once

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/scenario.pb.h"
#include "traces/kernel.h"

namespace warpfold::workloads {

// C[m,n] = A[m,k] B[k,n] as CUTLASS, DeepGEMM and cuBLASLt run it on Blackwell. Tensor memory holds the sums of two tiles, so that
// one tile is stored while the next is multiplied. The two CTAs of a pair compute one product together.
//
//   warp 0      load       2 bulk loads a k-block
//   warp 1      multiply   a tcgen05.mma for every 32 bytes of k, a commit for each stage and each tile
//   warps 2-3   idle       end at once
//   warps 4-7   epilogue   32 columns at a time: tensor memory, registers, shared memory, TMA
//
// A CTA models one SM's half of a pair and issues its own half of the product. On hardware the leader of a pair also waits for the
// stages of the other CTA; this is not modelled (docs/decisions/0026-tensor-memory.md).
Expected<traces::Kernel> make_blackwell_gemm(const configs::BlackwellGemm& gemm, const configs::Gpu& gpu);

}  // namespace warpfold::workloads
