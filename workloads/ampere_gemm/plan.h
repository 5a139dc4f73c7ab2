#pragma once

#include <cstdint>
#include <optional>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A tile whose main loop was recorded (sass/mma_gemm_*.sass), and the registers that the recordings have: accumulators from R4 on,
// then fragments.
struct RecordedTile {
  uint32_t m, n, k;
  uint32_t stages;
  uint32_t warps;
  uint32_t accumulators;     // of a thread: 128 of 64 x 64 a warp, 64 of 64 x 32, 32 of 32 x 32
  uint32_t addresses;        // the first of six registers for addresses of the copies
  bool alternating = false;  // copies of A and B take turns; else those of A come first
};

// A GEMM with mma.sync with every default filled in.
struct AmpereGemmPlan {
  uint64_t m, n, k;
  configs::ElementType type;
  RecordedTile tile;
  bool along_m;
  uint32_t swizzle;

  static constexpr uint32_t kElementBytes = 2;
  static constexpr uint32_t kCopyBytes = 512;  // LDGSTS.128 of a warp

  uint64_t tiles_m() const { return (m + tile.m - 1) / tile.m; }
  uint64_t tiles_n() const { return (n + tile.n - 1) / tile.n; }
  uint64_t k_tiles() const { return (k + tile.k - 1) / tile.k; }
  uint32_t a_bytes() const { return tile.m * tile.k * kElementBytes; }  // of one stage
  uint32_t b_bytes() const { return tile.n * tile.k * kElementBytes; }
  uint32_t stage_bytes() const { return a_bytes() + b_bytes(); }
  uint32_t a_copies() const { return a_bytes() / tile.warps / kCopyBytes; }  // of a warp, of one stage
  uint32_t b_copies() const { return b_bytes() / tile.warps / kCopyBytes; }
};

// The recorded loop that is nearest to a tile of m x n whose ring holds `depth` elements of k: of the same number of elements, then
// of the same shape, then with the nearest ring. `transposed`: of n x m. None where no tile has as many elements within a factor of
// two: another number of CTAs would run.
struct NearestTile {
  RecordedTile tile;
  bool transposed = false;
};
std::optional<NearestTile> nearest_recorded_tile(uint32_t m, uint32_t n, uint32_t depth);

// Fails where the shape is empty or its loop was not recorded. Without a tile 128 x 128, without stages the fewest that were
// recorded.
Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm);

}  // namespace warpfold::workloads
