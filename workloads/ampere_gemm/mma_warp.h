#pragma once

#include <vector>

#include "isa/architecture.h"
#include "traces/kernel.h"
#include "workloads/ampere_gemm/plan.h"

namespace warpfold::workloads {

// Streams of the kernel, by index.
struct AmpereGemmStreams {
  static constexpr int16_t kA = 0;
  static constexpr int16_t kB = 1;
  static constexpr int16_t kC = 2;
};

// The program of all warps of a CTA: the prologue fills all stages but one and loads the first fragments, the main loop is compiled
// code (sass/mma_gemm_*.sass), the epilogue packs the accumulators of a thread and stores them from registers.
std::vector<traces::Node> mma_warp_body(const isa::Architecture& architecture, const AmpereGemmPlan& plan);

}  // namespace warpfold::workloads
