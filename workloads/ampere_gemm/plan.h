#pragma once

#include <cstdint>
#include <optional>
#include <string>

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

  // Loops were recorded for operands of 16 bits, of which tile.k are as deep as a tile. An instruction of another type has its
  // operands in as many registers (PTX ISA: m16n8k8 of TF32, m16n8k32 of 8 bits), so that the loop is the same but for its name.
  static constexpr uint32_t kElementBytes = 2;
  static constexpr uint32_t kCopyBytes = 512;  // LDGSTS.128 of a warp

  uint64_t tiles_m() const { return (m + tile.m - 1) / tile.m; }
  uint64_t tiles_n() const { return (n + tile.n - 1) / tile.n; }
  uint32_t operand_bytes() const { return type == configs::TF32 ? 4 : type == configs::INT8 || type == configs::FP8 ? 1 : 2; }
  uint32_t result_bytes() const { return type == configs::TF32 || type == configs::INT8 ? 4 : 2; }
  uint32_t tile_k() const { return tile.k * kElementBytes / operand_bytes(); }
  uint64_t k_tiles() const { return (k + tile_k() - 1) / tile_k(); }
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

// "IMMA.16832.S8.S8": the instruction that multiplies operands of this type.
std::string mma_name(configs::ElementType type);

// Fails where the shape is empty or its loop was not recorded, and for types that mma.sync does not multiply. Without a tile 128 x
// 128, without stages the fewest that were recorded.
Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm);

}  // namespace warpfold::workloads
