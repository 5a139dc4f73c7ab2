// How the consumers of a Hopper GEMM hand a tile over: sums packed into registers, stored to shared memory by STSM, then by TMA.
//
// SUB_TILES is CUTLASS's, WHOLE_TILE that of DeepGEMM (deep_gemm/include/deep_gemm/fp8_gemm.cuh at a6d97a1c, 2025-02-25, and at
// 8002b769, 2025-03-25, which store alike): every warp packs and stores all its sums (an STSM.x4 for 16 columns), a fence, a
// barrier of both consumer warpgroups, one TMA store, and a wait until it has read the buffer; then the next tile begins.
// Instructions outside STSM and F2FP, whose number follows from the tile, were not counted: assumed.
#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint16_t kGroupThreads = 128;
constexpr uint16_t kConsumerThreads = 2 * kGroupThreads;
constexpr uint32_t kRegistersAStore = 4;  // STSM.x4
constexpr uint32_t kPackedRegisters = 8;

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

// Conflict-free stores keep the width that the opcode table gives them.
isa::Effect store_effect(const HopperPlan& plan) {
  isa::Effect effect;
  if (!plan.swizzled_store) effect.wavefronts = plan.store_wavefronts();
  return effect;
}

// One sub-tile of 64 rows x 64 bytes: pack, wait until TMA has read the buffer's last contents, write it, let TMA store it.
// CUTLASS has one elected thread store for the warpgroup; here each of the four equal warps stores its 16 rows.
void add_sub_tile(Code& code, const HopperPlan& plan, int group, uint32_t step) {
  const uint32_t steps_per_block = plan.epilogue_steps() / plan.accumulator_blocks();
  const uint32_t values = plan.accumulators_per_block() / steps_per_block;
  const auto barrier = static_cast<int16_t>(1 + group);
  const uint32_t sum = first_sum(plan) + step * values;
  if (!plan.scaled) add_alpha(code, sum, kPackedRegisters * sums_a_register(plan));
  add_pack(code, plan, sum, HopperRegisters::kFirstPacked, kPackedRegisters);
  code.add("UTMACMDFLUSH", {.count = HopperPlan::kEpilogueBuffers - 1});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = kGroupThreads});
  code.add("STSM.16.M88.4 [R5+0x1000], R8", store_effect(plan)).add("STSM.16.M88.4 [R5+0x1200], R12", store_effect(plan));
  code.add("FENCE.VIEW.ASYNC.S");
  add_tensor_map(code);
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = kGroupThreads});
  code.add("UTMASTG.3D [UR48], [UR50]", {.bytes = 16 * HopperPlan::kEpilogueRowBytes, .stream = HopperStreams::kC});
}

}  // namespace

uint32_t first_sum(const HopperPlan& plan) {
  const uint32_t behind = plan.promoted ? plan.accumulators() : 0;
  return HopperRegisters::kFirstAccumulator + behind + (plan.scaled ? HopperPlan::kSumShift : 0);
}

void add_sub_tile_epilogue(Code& code, const HopperPlan& plan, int group) {
  for (uint32_t step = 0; step < plan.epilogue_steps(); ++step) add_sub_tile(code, plan, group, step);
}

void add_whole_tile_epilogue(Code& code, const HopperPlan& plan) {
  const uint32_t registers = plan.accumulators() / sums_a_register(plan);
  if (!plan.scaled) add_alpha(code, first_sum(plan), plan.accumulators());
  isa::Effect store;
  store.wavefronts = plan.store_wavefronts();
  for (uint32_t i = 0; i < registers; i += kRegistersAStore) {
    const uint32_t packed = HopperRegisters::kFirstPacked + i % kPackedRegisters;
    add_pack(code, plan, first_sum(plan) + i * sums_a_register(plan), packed, kRegistersAStore);
    code.add(line({"STSM.16.M88.4 [R5+", immediate(0x1000 + 8 * i), "], ", general(packed)}), store);
  }
  code.add("FENCE.VIEW.ASYNC.S");
  add_tensor_map(code);
  const auto barrier = HopperBarriers::kConsumers;
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = barrier, .count = kConsumerThreads});
  // One thread stores for both warpgroups; here each of the eight equal warps stores its rows.
  const uint32_t bytes = plan.epilogue_bytes() / (kConsumerThreads / 32);
  code.add("UTMASTG.2D [UR48], [UR50]", {.bytes = bytes, .stream = HopperStreams::kC});
}

void add_whole_tile_wait(Code& code) {
  code.add("UTMACMDFLUSH");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x1", {.barrier = HopperBarriers::kConsumers, .count = kConsumerThreads});
}

}  // namespace warpfold::workloads
