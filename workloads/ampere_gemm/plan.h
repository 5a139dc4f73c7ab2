#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A GEMM with mma.sync with every default filled in.
//
//   tile        128 x 128 of C a CTA, 64 x 64 a warp, m16n8k16
//   k-tiles     32 deep with 3 or 4 stages, 64 deep with 3: those whose loop was recorded (sass/mma_gemm_*.sass)
//   registers   R4-R131 accumulators, R132-R163 fragments, R212-R217 addresses, as the recordings have them
struct AmpereGemmPlan {
  uint64_t m, n, k;
  configs::ElementType type;
  uint32_t tile_k;
  uint32_t stages;
  bool along_m;
  uint32_t swizzle;

  static constexpr uint32_t kTile = 128;
  static constexpr uint32_t kWarps = 4;
  static constexpr uint32_t kElementBytes = 2;
  static constexpr uint32_t kCopyBytes = 512;  // LDGSTS.128 of a warp

  uint64_t tiles_m() const { return (m + kTile - 1) / kTile; }
  uint64_t tiles_n() const { return (n + kTile - 1) / kTile; }
  uint64_t k_tiles() const { return (k + tile_k - 1) / tile_k; }
  uint32_t operand_bytes() const { return kTile * tile_k * kElementBytes; }  // of A or B, one stage
  uint32_t copies() const { return operand_bytes() / kWarps / kCopyBytes; }  // a warp, of A or B, one stage
};

// Fails where the shape is empty or its loop was not recorded.
Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm);

}  // namespace warpfold::workloads
