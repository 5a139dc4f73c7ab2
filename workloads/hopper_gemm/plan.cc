#include "workloads/hopper_gemm/plan.h"

#include <algorithm>
#include <array>
#include <utility>

#include "configs/architecture.h"
#include "workloads/common/occupancy.h"
#include "workloads/common/whole_numbers.h"

namespace warpfold::workloads {
namespace {

std::string text(uint64_t value) { return std::to_string(value); }
uint32_t bytes_of(configs::ElementType type) { return type == configs::FP8 ? 1 : type == configs::FP32 ? 4 : 2; }

// Bytes for the barriers of the pipelines and for tensor maps. assumed: CUTLASS aligns the tensors behind them to 1024 bytes.
constexpr uint32_t kBarrierBytes = 1024;
// PTX ISA: at most 8 CTAs in a cluster without opting in to non-portable sizes.
constexpr uint32_t kPortableClusterCtas = 8;
// Registers below the accumulators, for addresses, phases and packed output (R0-R23 in CUTLASS 4.7's sm_90 kernels).
constexpr uint32_t kWorkingRegisters = 24;
// Shared memory has 32 banks of 4 bytes (CUDA programming guide). STSM.x4 writes 16 rows of 32 bytes, STSM.x2 of 16.
constexpr uint32_t kHighestTile = 512;  // rows: cuBLAS's highest tile (configs/libraries/cublas.textproto)
constexpr uint32_t kBankedBytes = 128;
constexpr uint32_t kMatrixRowBytes = 16;
constexpr uint32_t kMatrixRows = 8;
constexpr uint32_t kMatrices = 4;
constexpr uint32_t kStoreColumnBytes = 16;

// Maps fused operations on the result's rows and columns to the tile's: swap_operands exchanges the two.
configs::GemmFusion fusion_of_tile(const configs::HopperGemm& gemm) {
  configs::GemmFusion fused = gemm.fused();
  if (!gemm.swap_operands()) return fused;
  fused.clear_row_scales();
  fused.clear_column_scales();
  if (gemm.fused().column_scales()) fused.set_row_scales(true);
  if (gemm.fused().row_scales()) fused.set_column_scales(true);
  return fused;
}

HopperPlan with_defaults(const configs::HopperGemm& gemm) {
  HopperPlan plan;
  plan.type = gemm.type();
  plan.element_bytes = bytes_of(plan.type);
  // FP8 inputs default to a 16-bit result and 16-bit inputs to their own type, as GEMMs of inference and training do.
  plan.output_type = gemm.has_output_type() ? gemm.output_type() : plan.type == configs::FP8 ? configs::BF16 : plan.type;
  plan.output_bytes = bytes_of(plan.output_type);
  const bool swapped = gemm.swap_operands();
  plan.m = swapped ? gemm.n() : gemm.m();
  plan.n = swapped ? gemm.m() : gemm.n();
  plan.k = gemm.k();
  plan.swapped = swapped;
  plan.group_rows.assign(gemm.grouped().rows().begin(), gemm.grouped().rows().end());
  if (plan.group_rows.empty()) plan.group_rows.assign(std::max<uint64_t>(gemm.grouped().groups(), 1), gemm.m());
  plan.grouped = gemm.has_grouped();
  plan.batched = gemm.grouped().layout() == configs::BATCHED;
  plan.masked = gemm.grouped().layout() == configs::MASKED;
  plan.parts = or_default(gemm.split_k(), 1);
  plan.parallel_parts = gemm.reduction() == configs::PARALLEL;
  plan.grid_ctas = gemm.grid_ctas();
  plan.stream_k = gemm.stream_k();
  plan.tile_m = or_default(gemm.tile_m(), 128);
  plan.tile_n = or_default(gemm.tile_n(), 128);
  plan.tile_k = or_default(gemm.tile_k(), 128 / plan.element_bytes);
  // CUTLASS's automatic schedule: cooperative if both warpgroups get 64 rows, otherwise ping-pong (sm90_gmma_builder.inl).
  plan.pingpong = gemm.has_schedule() ? gemm.schedule() == configs::PINGPONG : plan.tile_m < 128;
  plan.by_columns = gemm.schedule() == configs::COOPERATIVE_COLUMNS;
  plan.consumers = !plan.pingpong && !plan.by_columns && plan.tile_m == 64 ? 1 : 2;
  plan.fused = fusion_of_tile(gemm);
  const bool promotable = plan.type == configs::FP8 && !plan.pingpong && plan.accumulators() <= 64 && plan.tile_k == 128;
  plan.promoted = gemm.has_fp8_accumulation() ? gemm.fp8_accumulation() != configs::FAST : promotable;
  plan.vector_scaled = gemm.fp8_accumulation() == configs::VECTOR_SCALED;
  plan.scaled = plan.vector_scaled || gemm.fp8_accumulation() == configs::BLOCK_SCALED;
  plan.select_scales = gemm.select_scales();
  plan.whole_tile = gemm.epilogue() == configs::WHOLE_TILE;
  plan.swizzled_store = gemm.has_swizzled_store() ? gemm.swizzled_store() : true;
  plan.persistent = gemm.has_persistent() ? gemm.persistent() : true;
  plan.cluster_m = or_default(gemm.cluster_m(), 2);
  plan.cluster_n = or_default(gemm.cluster_n(), 1);
  plan.along_m = gemm.rasterisation() == configs::ALONG_M;
  // assumed: bands of 8 tiles, CUTLASS's largest. Without bands, every wave would read a tall matrix from DRAM again.
  plan.swizzle = or_default(gemm.swizzle(), 8);
  // 65536 registers / 384 threads, rounded down to a multiple of 8: the number that ptxas reports under CUTLASS's launch bound.
  // assumed: with one consumer warpgroup, the number that gives the two warpgroups 40 and 232.
  plan.registers_per_thread = or_default(gemm.registers_per_thread(), plan.consumers == 2 ? 168 : 136);
  plan.used_rows = static_cast<uint32_t>(std::min<uint64_t>(plan.tile_m, plan.m));
  plan.used_columns = static_cast<uint32_t>(std::min<uint64_t>(plan.tile_n, plan.n));
  return plan;
}

Expected<void> check_fusion(const HopperPlan& plan) {
  const configs::GemmFusion& fused = plan.fused;
  if (fused.quantisation() != configs::UNQUANTISED && plan.output_type != configs::FP8) {
    return fail("hopper_gemm: fused.quantisation " + configs::Quantisation_Name(fused.quantisation()) +
                " needs output_type FP8, not " + configs::ElementType_Name(plan.output_type));
  }
  if (plan.swapped && (fused.activation() == configs::SWIGLU || fused.quantisation() == configs::PER_ROW))
    return fail(
        "hopper_gemm: SWIGLU and quantisation PER_ROW need the result's rows in the tile's: swap_operands has no place here");
  if (fused.residual() && fused.activation() == configs::SWIGLU) return fail("hopper_gemm: a residual has no place behind SWIGLU");
  if (plan.stream_k && (!plan.persistent || plan.pingpong || plan.split()))
    return fail("hopper_gemm: stream_k needs persistent: true and schedule COOPERATIVE");
  if (plan.stream_k && fused.residual()) return fail("hopper_gemm: fused.residual has no place with stream_k");
  if (plan.split() && plan.persistent) return fail("hopper_gemm: split_k needs persistent: false, a CTA for each part");
  if (plan.split() && plan.pingpong) return fail("hopper_gemm: split_k needs schedule COOPERATIVE");
  if (plan.split() && plan.parallel_parts && plan.is_fused())
    return fail("hopper_gemm: with reduction PARALLEL the epilogue is the gemm_reduction kernel's: fused has no place here");
  if (fused.residual() && plan.whole_tile) return fail("hopper_gemm: fused.residual needs epilogue SUB_TILES");
  return {};
}

Expected<void> check_shape(const HopperPlan& plan, const configs::Gpu& gpu) {
  if (configs::product_family(gpu.architecture()) != configs::ProductFamily::kWgmma)
    return fail("hopper_gemm needs a GPU of architecture sm_90, this one is " + gpu.architecture());
  if (plan.m == 0 || plan.n == 0 || plan.k == 0) return fail("hopper_gemm: m, n and k must be at least 1");
  if (plan.warpgroup_columns() % 8 != 0 || plan.warpgroup_columns() > 256) {
    return fail("hopper_gemm: tile_n " + text(plan.tile_n) + " is not a wgmma width; expected a multiple of 8 up to 256");
  }
  const uint32_t row_unit = plan.pingpong || plan.by_columns || plan.consumers == 1 ? 64 : 128;
  if (plan.tile_m % row_unit != 0 || plan.tile_m > kHighestTile) {
    return fail("hopper_gemm: tile_m " + text(plan.tile_m) + " must be a multiple of " + text(row_unit) + " up to " +
                text(kHighestTile) + " (" +
                (plan.pingpong     ? "PINGPONG: 64 rows a wgmma)"
                 : plan.by_columns ? "COOPERATIVE_COLUMNS: 64 rows a wgmma)"
                                   : "COOPERATIVE: two warpgroups of 64 rows a wgmma)"));
  }
  if (plan.tile_k * plan.element_bytes % HopperPlan::kStepBytes != 0) {
    return fail("hopper_gemm: tile_k " + text(plan.tile_k) + " must be a multiple of " +
                text(HopperPlan::kStepBytes / plan.element_bytes) + ", the depth of one wgmma");
  }
  if (plan.whole_tile && (plan.pingpong || plan.by_columns))
    return fail("hopper_gemm: epilogue WHOLE_TILE needs schedule COOPERATIVE");
  if (plan.result_row_bytes() % kStoreColumnBytes != 0) {
    return fail("hopper_gemm: tile_n " + text(plan.tile_n) + " must be a multiple of " +
                text(kStoreColumnBytes * plan.sum_columns() / plan.output_bytes) + ", the columns of one STSM.x2");
  }
  if (plan.cluster_ctas() > kPortableClusterCtas) {
    return fail("hopper_gemm: a cluster of " + text(plan.cluster_m) + " x " + text(plan.cluster_n) + " CTAs is larger than the " +
                text(kPortableClusterCtas) + " CTAs that every GPU can place");
  }
  if (plan.promoted && (plan.type != configs::FP8 || plan.tile_k != 128)) {
    return fail("hopper_gemm: fp8_accumulation PROMOTED adds partial sums every 128 of k: it needs type FP8 and tile_k 128");
  }
  if (plan.scaled && (plan.pingpong || plan.by_columns))
    return fail("hopper_gemm: fp8_accumulation " + std::string(plan.vector_scaled ? "VECTOR_SCALED" : "BLOCK_SCALED") +
                " needs schedule COOPERATIVE");
  if (plan.output_type == configs::FP32 && (!plan.whole_tile || plan.is_fused()))
    return fail("hopper_gemm: output_type FP32 needs epilogue WHOLE_TILE, and nothing fused");
  if (auto ok = check_fusion(plan); !ok) return ok;
  if (plan.pingpong && !plan.persistent) {
    return fail("hopper_gemm: PINGPONG needs persistent: true, because a CTA alternates between two tiles");
  }
  return {};
}

// setmaxnreg moves registers from the producer warpgroup to the consumers within the budget of the launch: producer + 2 x consumer
// = 3 x launch registers, all multiples of 8. CUTLASS: 168 -> 40 / 232, or 24 / 240 if the consumers need more (FlashAttention-3).
// 160 -> 32 / 224. One consumer: 136 -> 40 / 232.
Expected<void> share_registers(HopperPlan& plan) {
  const uint32_t budget = plan.warpgroups() * plan.registers_per_thread;
  const uint32_t most = std::min(65536 / plan.threads() / 8 * 8, 248U);
  if (plan.registers_per_thread % 8 != 0 || plan.registers_per_thread > most || plan.registers_per_thread < 32) {
    return fail("hopper_gemm: registers_per_thread " + text(plan.registers_per_thread) + " must be a multiple of 8 from 32 to " +
                text(most) + " (65536 registers for " + text(plan.threads()) + " threads)");
  }
  const uint32_t more =
      (plan.scaled ? HopperPlan::kSumShift : 0) + (plan.vector_scaled ? plan.accumulators_per_block() / 2 : 0) +
      (plan.is_fused() || plan.stream_k || (plan.split() && !plan.parallel_parts) ? HopperPlan::kFusionRegisters : 0);
  const uint32_t needed = kWorkingRegisters + plan.accumulators() * (plan.promoted ? 2 : 1) + more;
  for (const uint32_t producer : {40U, 32U, 24U}) {
    const uint32_t consumer = std::min((budget - producer) / plan.consumers / 8 * 8, 240U);
    const bool exact = producer + plan.consumers * consumer == budget;
    if (consumer < needed || (!exact && producer != 24)) continue;
    plan.producer_registers = producer;
    plan.consumer_registers = consumer;
    return {};
  }
  return fail("hopper_gemm: a consumer thread needs " + text(needed) + " registers for a " + text(plan.warpgroup_rows()) + " x " +
              text(plan.tile_n) + " accumulator, registers_per_thread " + text(plan.registers_per_thread) + " leaves " +
              text((budget - 24) / plan.consumers / 8 * 8));
}

Expected<void> share_memory(HopperPlan& plan, const configs::HopperGemm& gemm, const configs::Gpu& gpu) {
  const uint32_t most = gpu.sm().shared_memory().bytes_per_cta_max();
  const uint32_t limit = std::min(or_default(gemm.shared_memory_limit_bytes(), most), most);
  plan.k_blocks = ceil_div(ceil_div(plan.k, plan.tile_k), plan.parts);
  const uint64_t scales = plan.b_scales() * HopperPlan::kScaleBytes;
  if (scales >= limit) return fail("hopper_gemm: " + text(scales) + " bytes of scales of B exceed shared memory; use a smaller k");
  const uint32_t fixed = plan.epilogue_bytes() + kBarrierBytes + static_cast<uint32_t>(scales);
  const uint32_t fitting = limit > fixed ? (limit - fixed) / plan.stage_bytes() : 0;
  plan.stages = or_default(gemm.stages(), fitting);
  if (plan.stages < 2 || plan.stages > fitting) {
    return fail("hopper_gemm: " + text(std::max(plan.stages, 2U)) + " stages of " + text(plan.stage_bytes()) + " bytes and " +
                text(fixed) + " bytes for epilogue and barriers exceed the " + text(limit) +
                " bytes of shared memory a CTA may have");
  }
  plan.shared_memory_bytes = fixed + plan.stages * plan.stage_bytes();
  return {};
}

// SERIAL: polls of a tile's semaphore by a CTA while the previous part reads, adds and stores its sums; a poll takes one round trip
// to L2. The parts of one wave finish their products together, so each part waits for all earlier parts. In later waves the earlier
// parts have already ended. assumed: fixed counts, because CTAs on different SMs do not see each other's semaphores in this model.
uint32_t polls_of_a_turn(const HopperPlan& plan, const configs::Gpu& gpu) {
  if (!plan.split() || plan.parallel_parts || plan.tiles() >= plan.concurrent_ctas) return 0;
  const double sums = 4.0 * plan.tile_m * plan.tile_n;
  const double moved = sums * gpu.sm_count() * (1 / gpu.l2().read_bytes_per_clk() + 1 / gpu.l2().write_bytes_per_clk());
  const double latency = gpu.l2().hit_latency_cycles();
  return static_cast<uint32_t>((moved + 2 * latency) / latency) + 1;
}

// Stream-K as in CUTLASS (include/cutlass/gemm/kernel/sm90_tile_scheduler_stream_k.hpp). All full waves but the last run whole
// tiles. The tiles of the last full wave and of the partial wave behind it are cut into equal shares of k-blocks, one per cluster.
Expected<void> share_k_blocks(HopperPlan& plan, uint64_t running) {
  const uint64_t waves = plan.clusters / running;
  const uint64_t rest = plan.clusters % running;
  const uint64_t whole = rest == 0 ? waves : waves > 0 ? waves - 1 : 0;
  const uint64_t shared = (plan.clusters - whole * running) * plan.k_blocks;
  running = std::min(running, std::max(shared, plan.clusters));
  plan.concurrent_ctas = running * plan.cluster_ctas();
  for (uint64_t cluster = 0; cluster < running; ++cluster) {
    const uint64_t begin = shared * cluster / running;
    const uint64_t blocks = shared * (cluster + 1) / running - begin;
    const uint64_t ended = std::min((plan.k_blocks - begin % plan.k_blocks) % plan.k_blocks, blocks);
    TileShare share{whole + (blocks - ended) / plan.k_blocks, plan.cluster_ctas(), ended, (blocks - ended) % plan.k_blocks};
    // The share lies in the middle of a tile, which another CTA ends.
    if (begin % plan.k_blocks > 0 && begin % plan.k_blocks + blocks < plan.k_blocks) std::swap(share.ended, share.begun);
    TileShare* last = plan.shares.empty() ? nullptr : &plan.shares.back();
    const bool same =
        last != nullptr && last->tiles_per_cta == share.tiles_per_cta && last->ended == share.ended && last->begun == share.begun;
    if (same) {
      last->ctas += share.ctas;
    } else {
      plan.shares.push_back(share);
    }
  }
  return {};
}

// Persistent: as many clusters as the chip holds take tiles round robin, so the first clusters may process one more tile.
Expected<void> share_tiles(HopperPlan& plan, const configs::Gpu& gpu) {
  plan.clusters_m = ceil_div(plan.m, uint64_t{plan.tile_m} * plan.cluster_m);
  plan.clusters_n = ceil_div(plan.n, uint64_t{plan.tile_n} * plan.cluster_n);
  plan.clusters = 0;
  for (const uint64_t rows : plan.group_rows) {
    const uint64_t along_m = plan.swapped ? plan.clusters_m : ceil_div(rows, uint64_t{plan.tile_m} * plan.cluster_m);
    const uint64_t along_n = plan.swapped ? ceil_div(rows, uint64_t{plan.tile_n} * plan.cluster_n) : plan.clusters_n;
    plan.clusters += along_m * along_n;
  }
  const uint64_t clusters = plan.clusters * plan.parts;
  const uint32_t resident = ctas_per_sm(gpu, {plan.threads() / 32, plan.registers_per_thread, plan.shared_memory_bytes});
  const uint64_t fitting = uint64_t{resident} * gpu.sm_count() / plan.cluster_ctas();
  if (clusters == 0) return fail("hopper_gemm: no group has any rows");
  if (fitting == 0) return fail("hopper_gemm: not one cluster of " + text(plan.cluster_ctas()) + " CTAs fits the GPU");
  const uint64_t most = plan.grid_ctas > 0 ? std::max<uint64_t>(plan.grid_ctas / plan.cluster_ctas(), 1) : fitting;
  if (plan.stream_k) return share_k_blocks(plan, std::min(fitting, most));
  const uint64_t running = std::min({fitting, clusters, most});
  plan.concurrent_ctas = running * plan.cluster_ctas();
  if (!plan.persistent) {
    plan.shares = {{1, plan.tiles()}};
    plan.turn_polls = polls_of_a_turn(plan, gpu);
    return {};
  }
  plan.shares = tiles_in_turn(clusters, running, plan.cluster_ctas());
  return {};
}

}  // namespace

uint16_t unswizzled_store_wavefronts(uint32_t row_bytes) {
  std::array<uint16_t, kBankedBytes / kMatrixRowBytes> rows{};
  for (uint32_t row = 0; row < kMatrixRows; ++row) ++rows[row * row_bytes / kMatrixRowBytes % rows.size()];
  return static_cast<uint16_t>(kMatrices * *std::ranges::max_element(rows));
}

uint16_t HopperPlan::store_wavefronts() const {
  return swizzled_store ? kMatrices : unswizzled_store_wavefronts(epilogue_row_bytes());
}

Expected<HopperPlan> plan_hopper_gemm(const configs::HopperGemm& gemm, const configs::Gpu& gpu) {
  if (gemm.tile() == configs::AUTO) return fail("hopper_gemm: tile AUTO has to be taken from a library first");
  HopperPlan plan = with_defaults(gemm);
  if (auto ok = check_shape(plan, gpu); !ok) return std::unexpected(ok.error());
  if (auto ok = share_registers(plan); !ok) return std::unexpected(ok.error());
  if (auto ok = share_memory(plan, gemm, gpu); !ok) return std::unexpected(ok.error());
  if (auto ok = share_tiles(plan, gpu); !ok) return std::unexpected(ok.error());
  return plan;
}

}  // namespace warpfold::workloads
