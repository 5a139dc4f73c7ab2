#include "workloads/ampere_gemm/simt_plan.h"

#include <algorithm>
#include <array>
#include <string>

namespace warpfold::workloads {
namespace {

// Rows and columns of a thread's sums, by their number. maxas: 8 x 8. assumed: the other shapes are as square as 16-byte loads
// allow.
struct ThreadTile {
  uint32_t sums, m, n;
};
constexpr std::array kThreadTiles{ThreadTile{16, 4, 4}, ThreadTile{32, 8, 4}, ThreadTile{64, 8, 8}, ThreadTile{128, 8, 16}};

// Default threads: 64 sums per thread, or 16 if the tile is 32 wide, as in ampere_sgemm_128x128 (256 threads), _128x64 (128),
// _64x64 (64), _128x32 and _32x128 (256). A slice of k has 64 threads, or 32 in a tile of 32 x 32 (_sliced1x4).
uint32_t threads_of(const SimtGemmPlan& plan) {
  const uint32_t sums = plan.tile_m * plan.tile_n;
  if (plan.slices > 1) return plan.slices * std::clamp(sums / 32, 32U, 64U);
  const bool narrow = std::min(plan.tile_m, plan.tile_n) == 32;
  return std::clamp(sums / (narrow ? 16 : sums > 16384 ? 128 : 64), 32U, 256U);
}

// assumed: 4 with cp.async, the smaller of CUTLASS's two choices; two without it [cutlass].
constexpr uint32_t kAsyncStages = 4;

}  // namespace

uint32_t SimtGemmPlan::shared_bytes() const {
  const uint32_t meeting = slices > 1 ? slices * tile_m * tile_n * kWordBytes : 0;
  return std::max(stages * stage_bytes(), meeting);
}

Expected<SimtGemmPlan> plan_simt_gemm(const configs::AmpereGemm& gemm, bool async) {
  if (gemm.m() == 0 || gemm.n() == 0 || gemm.k() == 0) return fail("ampere_gemm: m, n and k must be at least 1");
  SimtGemmPlan plan;
  plan.m = gemm.m();
  plan.n = gemm.n();
  plan.k = gemm.k();
  plan.products = std::max<uint64_t>(gemm.grouped().groups(), 1);
  plan.parts = std::max<uint64_t>(gemm.split_k(), 1);
  if (gemm.tile_m() != 0) plan.tile_m = gemm.tile_m();
  if (gemm.tile_n() != 0) plan.tile_n = gemm.tile_n();
  plan.slices = std::max(gemm.k_slices(), 1U);
  plan.threads = gemm.threads() != 0 ? gemm.threads() : threads_of(plan);
  plan.async = async;
  plan.stages = async ? (gemm.stages() != 0 ? gemm.stages() : kAsyncStages) : 2;
  plan.along_m = gemm.rasterisation() == configs::ALONG_M;
  plan.swizzle = gemm.swizzle() != 0 ? gemm.swizzle() : 8;
  plan.a_repeats = std::max(gemm.a_repeats(), 1U);
  plan.b_repeats = std::max(gemm.b_repeats(), 1U);
  const uint32_t sums = plan.tile_m * plan.tile_n * plan.slices;
  const auto* found = std::ranges::find(kThreadTiles, sums / plan.threads, &ThreadTile::sums);
  const bool whole = sums % plan.threads == 0 && plan.threads % (32 * plan.slices) == 0;
  const bool copies = plan.tile_m * plan.tile_k() % plan.threads == 0 && plan.tile_n * plan.tile_k() % plan.threads == 0;
  if (!whole || !copies || found == kThreadTiles.end()) {
    return fail("ampere_gemm: a tile of " + std::to_string(plan.tile_m) + " x " + std::to_string(plan.tile_n) + " in FP32 by " +
                std::to_string(plan.threads) + " threads in " + std::to_string(plan.slices) +
                " slices of k; expected whole warps with 16, 32, 64 or 128 sums a thread, and as many copies for each");
  }
  plan.thread_m = found->m;
  plan.thread_n = found->n;
  return plan;
}

}  // namespace warpfold::workloads
