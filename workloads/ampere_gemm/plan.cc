#include "workloads/ampere_gemm/plan.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

namespace warpfold::workloads {
namespace {

// Tiles, stages and warps are CUTLASS's (python/cutlass_library/generator.py @03447b6, GenerateSM80_TensorOp_16816); accumulators,
// registers and the order of copies are those of the recordings in sass/.
constexpr std::array kRecorded{
    RecordedTile{.m = 128, .n = 128, .k = 32, .stages = 3, .warps = 4, .accumulators = 128, .addresses = 212, .alternating = true},
    RecordedTile{.m = 128, .n = 128, .k = 32, .stages = 4, .warps = 4, .accumulators = 128, .addresses = 212, .alternating = true},
    RecordedTile{.m = 128, .n = 128, .k = 64, .stages = 3, .warps = 4, .accumulators = 128, .addresses = 212, .alternating = true},
    RecordedTile{.m = 128, .n = 256, .k = 32, .stages = 3, .warps = 8, .accumulators = 128, .addresses = 210},
    RecordedTile{.m = 128, .n = 256, .k = 64, .stages = 3, .warps = 8, .accumulators = 128, .addresses = 220},
    RecordedTile{.m = 256, .n = 64, .k = 32, .stages = 4, .warps = 4, .accumulators = 128, .addresses = 220},
    RecordedTile{.m = 128, .n = 64, .k = 32, .stages = 6, .warps = 4, .accumulators = 64, .addresses = 136},
    RecordedTile{.m = 64, .n = 64, .k = 32, .stages = 10, .warps = 4, .accumulators = 32, .addresses = 82},
};

std::string name_of(const RecordedTile& tile) {
  return std::to_string(tile.m) + " x " + std::to_string(tile.n) + " x " + std::to_string(tile.k) + " with " +
         std::to_string(tile.stages) + " stages";
}

std::string all_names() {
  std::string names;
  for (const RecordedTile& tile : kRecorded) names += (names.empty() ? "" : ", ") + name_of(tile);
  return names;
}

// The larger of the two numbers divided by the smaller.
double ratio_of(uint32_t one, uint32_t other) {
  const double ratio = static_cast<double>(one) / static_cast<double>(other);
  return ratio < 1 ? 1 / ratio : ratio;
}

}  // namespace

std::string mma_name(configs::ElementType type) {
  switch (type) {
    case configs::TF32:
      return "HMMA.1688.F32.TF32";
    case configs::INT8:
      return "IMMA.16832.S8.S8";
    case configs::FP8:
      return "QMMA.16832.F32.E4M3.E4M3";
    default:
      return "HMMA.16816.F32";
  }
}

std::optional<NearestTile> nearest_recorded_tile(uint32_t m, uint32_t n, uint32_t depth) {
  if (m == 0 || n == 0 || depth == 0) return std::nullopt;
  std::optional<NearestTile> nearest;
  std::tuple<double, double, double> distance;
  for (const RecordedTile& tile : kRecorded) {
    for (const bool transposed : {false, true}) {
      const uint32_t rows = transposed ? tile.n : tile.m;
      const std::tuple each{ratio_of(tile.m * tile.n, m * n), ratio_of(rows, m), ratio_of(tile.k * tile.stages, depth)};
      if (nearest && each >= distance) continue;
      nearest = NearestTile{tile, transposed};
      distance = each;
    }
  }
  if (std::get<0>(distance) >= 2) return std::nullopt;
  return nearest;
}

Expected<AmpereGemmPlan> plan_ampere_gemm(const configs::AmpereGemm& gemm) {
  if (gemm.tile() == configs::AUTO) return fail("ampere_gemm: tile AUTO has to be taken from a library first");
  if (gemm.m() == 0 || gemm.n() == 0 || gemm.k() == 0) return fail("ampere_gemm: m, n and k must be at least 1");
  const configs::ElementType type = gemm.has_type() ? gemm.type() : configs::FP16;
  if (type == configs::FP4) return fail("ampere_gemm: type FP4 has no loop; expected BF16, FP16, TF32, INT8, FP8 or FP32");
  RecordedTile asked{};
  asked.m = gemm.tile_m() != 0 ? gemm.tile_m() : 128;
  asked.n = gemm.tile_n() != 0 ? gemm.tile_n() : 128;
  AmpereGemmPlan plan{
      gemm.m(), gemm.n(), gemm.k(), type, {}, gemm.rasterisation() == configs::ALONG_M, gemm.swizzle() != 0 ? gemm.swizzle() : 8};
  plan.a_repeats = std::max(gemm.a_repeats(), 1U);
  plan.b_repeats = std::max(gemm.b_repeats(), 1U);
  plan.products = std::max<uint64_t>(gemm.grouped().groups(), 1);
  if (gemm.has_copy_bytes()) plan.thread_bytes = gemm.copy_bytes();
  asked.k = gemm.tile_k() != 0 ? gemm.tile_k() * plan.operand_bytes() / AmpereGemmPlan::kElementBytes : 32;
  asked.stages = gemm.stages();
  const auto* found = std::ranges::find_if(kRecorded, [&](const RecordedTile& tile) {
    return tile.m == asked.m && tile.n == asked.n && tile.k == asked.k && (asked.stages == 0 || tile.stages == asked.stages);
  });
  if (found == kRecorded.end()) {
    return fail("ampere_gemm: a tile of " + name_of(asked) + " was not recorded; expected one of " + all_names());
  }
  plan.tile = *found;
  if (plan.k_tiles() < plan.tile.stages) {
    return fail("ampere_gemm: k " + std::to_string(plan.k) + " is shorter than the ring of " + std::to_string(plan.tile.stages) +
                " x " + std::to_string(plan.tile_k()));
  }
  return plan;
}

}  // namespace warpfold::workloads
