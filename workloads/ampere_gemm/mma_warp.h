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

// The program of every warp of a CTA. The prologue fills all stages but one and loads the first fragments. The main loop is
// compiled code (sass/mma_gemm_*.sass). The epilogue packs a thread's accumulators and stores them from registers.
std::vector<traces::Node> mma_warp_body(const isa::Architecture& architecture, const AmpereGemmPlan& plan);

}  // namespace warpfold::workloads
