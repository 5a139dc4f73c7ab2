// The epilogue of a Hopper GEMM's consumers: sums are packed into registers, stored to shared memory by STSM, then to memory by
// TMA.
//
// SUB_TILES is CUTLASS's epilogue, WHOLE_TILE is DeepGEMM's (deep_gemm/include/deep_gemm/fp8_gemm.cuh at a6d97a1c, 2025-02-25, and
// at 8002b769, 2025-03-25, which has the same stores). In WHOLE_TILE every warp packs and stores all its sums (an STSM.x4 for 16
// columns). A fence, a barrier of both consumer warpgroups, one TMA store, and a wait until TMA has read the buffer follow. Then
// the next tile begins. assumed: the instructions other than STSM and F2FP, which were not counted.
#include <algorithm>

#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint16_t kGroupThreads = 128;
constexpr uint32_t kRegistersAStore = 4;  // STSM.x4
constexpr uint32_t kPackedRegisters = 8;  // packed at a time in the whole tile's epilogue

uint32_t sums_a_register(const HopperPlan& plan) { return 4 / plan.output_bytes; }

// Packs sums from `sum` on into `registers` registers from `packed` on.
void add_pack(Code& code, const HopperPlan& plan, uint32_t sum, uint32_t packed, uint32_t registers) {
  const uint32_t per_register = sums_a_register(plan);
  for (uint32_t i = 0; i < registers * per_register; i += 2) {
    const std::string to = general(packed + i / per_register);
    const std::string high = general(sum + i + 1);
    const std::string low = general(sum + i);
    if (plan.output_type == configs::FP8) {
      const std::string rest = i % per_register == 0 ? "RZ" : to;  // the other two bytes
      code.add(line({"F2FP.SATFINITE.E4M3.F32.PACK_AB_MERGE_C ", to, ", ", high, ", ", low, ", ", rest}));
    } else {
      const std::string_view format = plan.output_type == configs::BF16 ? "F2FP.BF16.F32.PACK_AB " : "F2FP.F16.F32.PACK_AB ";
      code.add(line({format, to, ", ", high, ", ", low}));
    }
  }
}

void add_alpha(Code& code, uint32_t sum, uint32_t sums) {
  for (uint32_t i = 0; i < sums; ++i) {
    const std::string value = general(sum + i);
    code.add(line({"FMUL ", value, ", ", value, ", UR55"}));
  }
}

void add_tensor_map(Code& code) {
  code.add("UIADD3 UR49, UR37, 0x1000, URZ").add("UIADD3 UR50, UR42, 0x2f0, URZ").add("UMOV UR51, UR43");
}

// Conflict-free stores keep the wavefronts of the opcode table.
isa::Effect store_effect(const HopperPlan& plan) {
  isa::Effect effect;
  if (!plan.swizzled_store) effect.wavefronts = plan.store_wavefronts();
  return effect;
}

// Stores registers from `packed` on by one STSM: four registers, or the last two.
void add_store(Code& code, std::string_view offset, uint32_t packed, uint32_t registers, isa::Effect effect) {
  const bool whole = registers == kRegistersAStore;
  if (!whole && effect.wavefronts > 0) effect.wavefronts /= 2;
  code.add(line({whole ? "STSM.16.M88.4 [R5+" : "STSM.16.M88.2 [R5+", offset, "], ", general(packed)}), effect);
}

// Stores sums of FP32, two neighbours of a row at a time: DeepGEMM's weight gradients (fp8_wgrad_gemm.cuh
// at d5470d3b). A warp's 8 rows have 32
// bytes each. Rows are unpadded, so if their distance is a multiple of all banks, each row takes a pass.
void add_float_stores(Code& code, const HopperPlan& plan) {
  constexpr uint32_t kAllBanks = 128;
  constexpr uint16_t kRows = 8;
  isa::Effect effect;
  if (!plan.swizzled_store && plan.result_row_bytes() % kAllBanks == 0) effect.wavefronts = kRows;
  for (uint32_t i = 0; i < plan.accumulators(); i += 2)
    code.add(line({"STS.64 [R5+", immediate(0x1000 + 16ULL * i), "], ", general(first_sum(plan) + i)}), effect);
}

// Applies all fused operations to every sum of the tile: used if a row's scale depends on its results, and in an epilogue without
// sub-tiles.
void add_whole_fusion(Code& code, const HopperPlan& plan, int group) {
  constexpr uint32_t kAtATime = 16;
  if (!plan.scaled) add_alpha(code, first_sum(plan), plan.accumulators());
  for (uint32_t done = 0; done < plan.accumulators(); done += kAtATime) {
    const uint32_t count = std::min(kAtATime, plan.accumulators() - done);
    add_fusion(code, plan, group, {first_sum(plan) + done, count, first_sum(plan) + done / plan.sum_columns()});
  }
  if (plan.fused.quantisation() == configs::PER_ROW) add_row_quantisation(code, plan);
}

// Adds one sub-tile of 64 rows x 64 bytes: packs sums, waits until TMA has read the buffer's previous contents, writes the buffer,
// and lets TMA store it. In CUTLASS one elected thread stores for the warpgroup; here each of the four equal warps stores its 16
// rows.
void add_sub_tile(Code& code, const HopperPlan& plan, int group, uint32_t step) {
  const uint32_t steps_per_block = plan.epilogue_steps() / plan.accumulator_blocks();
  const uint32_t values = plan.accumulators_per_block() / steps_per_block;
  const uint32_t registers = plan.packed_registers();
  const auto barrier = static_cast<int16_t>(1 + group);
  const bool ahead = plan.fused.quantisation() == configs::PER_ROW;  // every sum of the tile is a result already
  const uint32_t sum = first_sum(plan) + step * (ahead ? values / plan.sum_columns() : values);
  if (!plan.scaled && !ahead) add_alpha(code, sum, values);
  if (plan.is_fused() && !ahead) add_fusion(code, plan, group, {sum, values, sum});
  add_pack(code, plan, sum, HopperRegisters::kFirstPacked, registers);
  code.add("UTMACMDFLUSH", {.count = HopperPlan::kEpilogueBuffers - 1});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = kGroupThreads});
  for (uint32_t i = 0; i < registers; i += kRegistersAStore) {
    const uint32_t stored = std::min(kRegistersAStore, registers - i);
    add_store(code, i == 0 ? "0x1000" : "0x1200", HopperRegisters::kFirstPacked + i, stored, store_effect(plan));
  }
  code.add("FENCE.VIEW.ASYNC.S");
  add_tensor_map(code);
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = kGroupThreads});
  code.add("UTMASTG.3D [UR48], [UR50]", {.bytes = plan.used_bytes(16 * plan.epilogue_row_bytes()), .stream = HopperStreams::kC});
}

}  // namespace

uint32_t first_sum(const HopperPlan& plan) {
  const uint32_t behind = plan.promoted ? plan.accumulators() : 0;
  return HopperRegisters::kFirstAccumulator + behind + (plan.scaled ? HopperPlan::kSumShift : 0);
}

void add_sub_tile_epilogue(Code& code, const HopperPlan& plan, int group) {
  if (plan.is_fused()) add_fusion_start(code, plan, group);
  if (plan.fused.quantisation() == configs::PER_ROW) add_whole_fusion(code, plan, group);
  for (uint32_t step = 0; step < plan.epilogue_steps(); ++step) add_sub_tile(code, plan, group, step);
}

void add_whole_tile_epilogue(Code& code, const HopperPlan& plan, int group) {
  const uint32_t sums = plan.accumulators() / plan.sum_columns();
  const uint32_t registers = sums / sums_a_register(plan);
  if (plan.is_fused()) {
    add_fusion_start(code, plan, group);
    add_whole_fusion(code, plan, group);
  } else if (!plan.scaled) {
    add_alpha(code, first_sum(plan), plan.accumulators());
  }
  isa::Effect store;
  store.wavefronts = plan.store_wavefronts();
  if (plan.output_type == configs::FP32) add_float_stores(code, plan);
  for (uint32_t i = 0; plan.output_type != configs::FP32 && i < registers; i += kRegistersAStore) {
    const uint32_t packed = HopperRegisters::kFirstPacked + i % kPackedRegisters;
    const uint32_t stored = std::min(kRegistersAStore, registers - i);
    add_pack(code, plan, first_sum(plan) + i * sums_a_register(plan), packed, stored);
    add_store(code, immediate(0x1000 + 8 * i), packed, stored, store);
  }
  code.add("FENCE.VIEW.ASYNC.S");
  add_tensor_map(code);
  const auto barrier = HopperBarriers::kConsumers;
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = static_cast<uint16_t>(plan.consumer_threads())});
  // In DeepGEMM one thread stores for both warpgroups; here each of the equal warps stores its rows.
  const uint32_t bytes = plan.used_bytes(plan.epilogue_bytes() / (plan.consumer_threads() / 32));
  code.add("UTMASTG.2D [UR48], [UR50]", {.bytes = bytes, .stream = HopperStreams::kC});
}

void add_whole_tile_wait(Code& code, const HopperPlan& plan) {
  code.add("UTMACMDFLUSH");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1",
           {.barrier = HopperBarriers::kConsumers, .count = static_cast<uint16_t>(plan.consumer_threads())});
}

}  // namespace warpfold::workloads
