#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "configs/diagnostic.h"
#include "configs/scenario.pb.h"

namespace warpfold::workloads {

// A tile whose main loop was recorded (sass/mma_gemm_*.sass), with the registers of the recording: accumulators from R4 on,
// followed by fragments.
struct RecordedTile {
  uint32_t m, n, k;
  uint32_t stages;
  uint32_t warps;
  uint32_t accumulators;     // per thread: 128 if a warp has 64 x 64, 64 if 64 x 32, 32 if 32 x 32
  uint32_t addresses;        // first of six registers for addresses of the copies
  bool alternating = false;  // copies of A and B alternate; otherwise all copies of A come first
};

// A GEMM by mma.sync with every default filled in.
struct AmpereGemmPlan {
  uint64_t m, n, k;  // of a product
  configs::ElementType type;
  RecordedTile tile;
  bool along_m;
  uint32_t swizzle;
  uint32_t a_repeats = 1, b_repeats = 1;  // copies of an element in the operands; DRAM delivers one
  uint64_t products = 1;                  // of a batched GEMM
  uint32_t thread_bytes = 16;             // that a thread copies at a time: 16, 8 or 4

  // The loops were recorded for 16-bit operands, and tile.k counts 16-bit elements. The mma.sync instructions of the other types
  // take operands in equally many registers (PTX ISA: m16n8k8 of TF32, m16n8k32 of 8 bits), so the loop differs only in the
  // instruction's name.
  static constexpr uint32_t kElementBytes = 2;
  static constexpr uint32_t kCopyBytes = 512;  // LDGSTS.128 of a warp

  uint64_t tiles_m() const { return (m + tile.m - 1) / tile.m; }
  uint64_t tiles_n() const { return (n + tile.n - 1) / tile.n; }
  uint32_t operand_bytes() const { return type == configs::TF32 ? 4 : type == configs::INT8 || type == configs::FP8 ? 1 : 2; }
  uint32_t result_bytes() const { return type == configs::TF32 || type == configs::INT8 ? 4 : 2; }
  uint32_t tile_k() const { return tile.k * kElementBytes / operand_bytes(); }
  uint64_t k_tiles() const { return (k + tile_k() - 1) / tile_k(); }
  // The share of the tiles' rows and columns that lies within the matrices of a batched GEMM. assumed: rows and columns beyond a
  // single product's are copied as the others.
  double filled_m() const { return products == 1 ? 1 : static_cast<double>(m) / static_cast<double>(tiles_m() * tile.m); }
  double filled_n() const { return products == 1 ? 1 : static_cast<double>(n) / static_cast<double>(tiles_n() * tile.n); }
  uint32_t a_bytes() const { return tile.m * tile.k * kElementBytes; }  // per stage
  uint32_t b_bytes() const { return tile.n * tile.k * kElementBytes; }
  uint32_t stage_bytes() const { return a_bytes() + b_bytes(); }
  uint32_t a_copies() const { return a_bytes() / tile.warps / kCopyBytes; }  // per warp and stage
  uint32_t b_copies() const { return b_bytes() / tile.warps / kCopyBytes; }
  uint32_t accesses() const { return 16 / thread_bytes; }  // copies in place of each of 16 bytes a thread
};

// Returns the recorded loop nearest to a tile of m x n whose ring holds `depth` elements of k. The tile's number of elements counts
// first, then its shape, then the depth of its ring. `transposed`: the recorded tile serves with its m and n exchanged. Empty if
// every recorded tile differs by a factor of two or more in elements, since the launch would then have a different number of CTAs.
struct NearestTile {
  RecordedTile tile;
  bool transposed = false;
};
std::optional<NearestTile> nearest_recorded_tile(uint32_t m, uint32_t n, uint32_t depth);

// Returns the instruction that multiplies operands of this type, for example "IMMA.16832.S8.S8".
std::string mma_name(configs::ElementType type);

// Fails if the shape is empty, its loop was not recorded, or mma.sync does not multiply the type. Defaults: a tile of 128 x 128,
// and the fewest stages that were recorded.
Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm);

}  // namespace warpfold::workloads
