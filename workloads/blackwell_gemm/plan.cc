#include "workloads/blackwell_gemm/plan.h"

#include <bit>
#include <string>

#include "configs/architecture.h"
#include "workloads/common/occupancy.h"
#include "workloads/common/whole_numbers.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kRowBytes = 128;       // bytes of k per row in a stage: CUTLASS's and DeepGEMM's BLOCK_K, the widest swizzle
constexpr uint32_t kBarrierBytes = 1024;  // DeepGEMM: 812 of barriers and a pointer, rounded up to its alignment
constexpr uint32_t kLargestCluster = 16;  // CUTLASS, sm100_implicit_gemm_tma_warpspecialized.hpp
constexpr uint32_t kFewestColumns = 32;   // fewest columns of tensor memory that can be allocated: PTX ISA
constexpr uint32_t kTensorColumns = 512;

std::string text(uint64_t value) { return std::to_string(value); }
Expected<void> refuse(const std::string& what) { return fail("blackwell_gemm: " + what); }

uint32_t bits_of(configs::ElementType type) {
  if (type == configs::FP4) return 4;
  return type == configs::FP8 ? 8 : 16;
}

configs::ElementType output_of(const configs::BlackwellGemm& gemm) {
  if (gemm.split_k() > 1) return configs::FP32;  // parts
  if (gemm.has_output_type()) return gemm.output_type();
  return bits_of(gemm.type()) == 16 ? gemm.type() : configs::BF16;
}

uint32_t scaled_elements_of(const configs::BlackwellGemm& gemm) {
  const configs::BlockScales standard = gemm.type() == configs::FP4 ? configs::NV : configs::UNSCALED;
  switch (gemm.has_scales() ? gemm.scales() : standard) {
    case configs::MX:
      return 32;
    case configs::NV:
      return 16;
    default:
      return 0;
  }
}

BlackwellPlan with_defaults(const configs::BlackwellGemm& gemm) {
  BlackwellPlan plan;
  plan.type = gemm.type();
  plan.element_bits = bits_of(plan.type);
  plan.output_type = output_of(gemm);
  plan.output_bytes = plan.output_type == configs::FP32 ? 4 : 2;
  plan.scaled_elements = scaled_elements_of(gemm);
  plan.swapped = gemm.swap_operands();
  plan.m = plan.swapped ? gemm.n() : gemm.m();
  plan.n = plan.swapped ? gemm.m() : gemm.n();
  plan.k = gemm.k();
  plan.tile_m = or_default(gemm.tile_m(), 128);
  // Default: 256 columns, the widest tcgen05.mma and the tile of CUTLASS and cuBLASLt (nvjet 128x256 .. 2cta). With scales, 192:
  // two accumulators of 256 columns would leave no room for the scales (DeepGEMM, get_layout_candidates).
  plan.tile_n = or_default(gemm.tile_n(), plan.scaled_elements > 0 ? 192 : 256);
  plan.tile_k = or_default(gemm.tile_k(), 8 * kRowBytes / plan.element_bits);
  plan.cta_group = or_default(gemm.cta_group(), 2);
  plan.persistent = gemm.has_persistent() ? gemm.persistent() : true;
  plan.cluster_m = or_default(gemm.cluster_m(), plan.cta_group);
  plan.cluster_n = or_default(gemm.cluster_n(), 1);
  plan.along_m = gemm.rasterisation() == configs::ALONG_M;
  plan.swizzle = or_default(gemm.swizzle(), 8);  // assumed: as hopper_gemm's
  plan.parts = or_default(gemm.split_k(), 1);
  plan.grid_ctas = gemm.grid_ctas();
  plan.used_rows = static_cast<uint32_t>(std::min<uint64_t>(plan.tile_m, plan.m));
  plan.used_columns = static_cast<uint32_t>(std::min<uint64_t>(plan.tile_n, plan.n));
  return plan;
}

Expected<void> check_type(const BlackwellPlan& plan, const configs::Gpu& gpu) {
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kTcgen05)
    return refuse("needs a GPU with tcgen05 (sm_100, sm_103), this one is " + gpu.architecture());
  if (plan.m == 0 || plan.n == 0 || plan.k == 0) return refuse("m, n and k must be at least 1");
  if (plan.output_type == configs::FP8 || plan.output_type == configs::FP4)
    return refuse("output_type must be BF16, FP16 or FP32, not " + configs::ElementType_Name(plan.output_type));
  if (plan.scaled_elements > 0 && plan.element_bits == 16) return refuse("scales are for type FP8 and FP4");
  if (plan.scaled_elements == 16 && plan.type == configs::FP8) return refuse("scales NV are for type FP4");
  if (plan.scaled_elements == 0 && plan.type == configs::FP4) return refuse("type FP4 needs scales: MX or NV");
  return {};
}

Expected<void> check_tile(const BlackwellPlan& plan) {
  // Block-scaled products have 128 rows per CTA (PTX ISA).
  if (plan.scaled_elements > 0 && plan.tile_m != 128) return refuse("scales need tile_m 128");
  if (plan.tile_n % 16 != 0 || plan.tile_n > 256) {
    return refuse("tile_n " + text(plan.tile_n) + " must be a multiple of 16 up to 256, the widest tcgen05.mma");
  }
  if (plan.tile_k % plan.step_elements() != 0) {
    return refuse("tile_k " + text(plan.tile_k) + " must be a multiple of " + text(plan.step_elements()) +
                  ", the depth of one tcgen05.mma");
  }
  if (plan.cluster_m % plan.cta_group != 0)
    return refuse("cluster_m " + text(plan.cluster_m) + " must be a multiple of cta_group, " + text(plan.cta_group));
  if (plan.cluster_ctas() > kLargestCluster)
    return refuse("a cluster of " + text(plan.cluster_ctas()) + " CTAs is larger than " + text(kLargestCluster));
  if (plan.parts > 1 && plan.persistent) return refuse("split_k needs persistent: false, a CTA for each part");
  return {};
}

// Two accumulators if they fit, so that one tile is stored while the next is multiplied.
Expected<void> share_tensor_memory(BlackwellPlan& plan, const configs::BlackwellGemm& gemm) {
  const uint32_t fitting = (kTensorColumns - plan.scale_columns()) / plan.tile_n;
  plan.accumulators = or_default(gemm.accumulators(), plan.persistent ? std::min(fitting, 2U) : 1);
  if (plan.accumulators <= fitting) return {};
  return refuse(text(plan.accumulators) + " accumulators of " + text(plan.tile_n) + " columns and " + text(plan.scale_columns()) +
                " columns of scales exceed the " + text(kTensorColumns) + " of tensor memory");
}

Expected<void> share_memory(BlackwellPlan& plan, const configs::BlackwellGemm& gemm, const configs::Gpu& gpu) {
  const uint32_t most = gpu.sm().shared_memory().bytes_per_cta_max();
  const uint32_t limit = std::min(or_default(gemm.shared_memory_limit_bytes(), most), most);
  plan.k_blocks = ceil_div(ceil_div(plan.k, plan.tile_k), plan.parts);
  const uint32_t fixed = plan.epilogue_bytes() + kBarrierBytes;
  const uint32_t fitting = limit > fixed ? (limit - fixed) / plan.stage_bytes() : 0;
  plan.stages = or_default(gemm.stages(), fitting);
  if (plan.stages < 2 || plan.stages > fitting) {
    return refuse(text(std::max(plan.stages, 2U)) + " stages of " + text(plan.stage_bytes()) + " bytes and " + text(fixed) +
                  " bytes for epilogue and barriers exceed the " + text(limit) + " bytes of shared memory a CTA may have");
  }
  plan.shared_memory_bytes = fixed + plan.stages * plan.stage_bytes();
  return {};
}

// Clusters that run at a time. A cluster lies within one GPC.
uint64_t clusters_at_a_time(const configs::Gpu& gpu, uint32_t resident, uint32_t cluster_ctas) {
  if (gpu.gpcs() == 0 || cluster_ctas == 1) return uint64_t{resident} * gpu.sm_count() / cluster_ctas;
  const uint64_t pairs = gpu.sm_count() / 2;
  const uint64_t larger = pairs % gpu.gpcs();
  const auto in_gpc = [&](uint64_t pairs_of_gpc) { return 2 * pairs_of_gpc * resident / cluster_ctas; };
  return larger * in_gpc(pairs / gpu.gpcs() + 1) + (gpu.gpcs() - larger) * in_gpc(pairs / gpu.gpcs());
}

Expected<void> share_tiles(BlackwellPlan& plan, const configs::Gpu& gpu) {
  plan.clusters_m = ceil_div(plan.m, uint64_t{plan.tile_m} * plan.cluster_m);
  plan.clusters_n = ceil_div(plan.n, uint64_t{plan.tile_n} * plan.cluster_n);
  const uint64_t clusters = plan.clusters_m * plan.clusters_n * plan.parts;
  const uint32_t resident =
      ctas_per_sm(gpu, {BlackwellPlan::kWarps, BlackwellPlan::kRegisters, plan.shared_memory_bytes, plan.tensor_memory_columns()});
  const uint64_t fitting = clusters_at_a_time(gpu, resident, plan.cluster_ctas());
  if (fitting == 0) return refuse("not one cluster of " + text(plan.cluster_ctas()) + " CTAs fits the GPU");
  const uint64_t most = plan.grid_ctas > 0 ? std::max<uint64_t>(plan.grid_ctas / plan.cluster_ctas(), 1) : fitting;
  const uint64_t running = std::min({fitting, clusters, most});
  plan.concurrent_ctas = running * plan.cluster_ctas();
  plan.shares = plan.persistent ? tiles_in_turn(clusters, running, plan.cluster_ctas())
                                : std::vector<TileShare>{{1, clusters * plan.cluster_ctas()}};
  return {};
}

}  // namespace

uint32_t BlackwellPlan::tensor_memory_columns() const {
  return std::max(std::bit_ceil(accumulators * tile_n + scale_columns()), kFewestColumns);
}

Expected<BlackwellPlan> plan_blackwell_gemm(const configs::BlackwellGemm& gemm, const configs::Gpu& gpu) {
  if (gemm.tile() == configs::AUTO) return fail("blackwell_gemm: tile AUTO has to be taken from a library first");
  BlackwellPlan plan = with_defaults(gemm);
  if (auto ok = check_type(plan, gpu); !ok) return std::unexpected(ok.error());
  if (auto ok = check_tile(plan); !ok) return std::unexpected(ok.error());
  if (auto ok = share_tensor_memory(plan, gemm); !ok) return std::unexpected(ok.error());
  if (auto ok = share_memory(plan, gemm, gpu); !ok) return std::unexpected(ok.error());
  if (auto ok = share_tiles(plan, gpu); !ok) return std::unexpected(ok.error());
  return plan;
}

}  // namespace warpfold::workloads
