// FP8 products whose partial sums are scaled when they are promoted. A has one scale for each row and 128 of k, B one scale for
// each 128 of k and 128 columns. The loop is DeepGEMM's (deep_gemm/include/deep_gemm/fp8_gemm.cuh at a6d97a1c, 2025-02-25, and
// 8002b769, 2025-03-25).
//
// Counts and order follow that source:
// - Before a tile, every sum is cleared, and the consumer threads of all warps but one (224 of 256, or 96 of 128) copy the tile's
//   scales of B from memory to shared memory.
// - A k-block loads one or two scales of B, waits for its stage, loads the scales of the thread's two rows of A, issues its
//   products, waits for all of them, releases the stage, multiplies scales, and adds every partial sum by one FFMA.
// Descriptors cost the same as in CUTLASS's kernels. The source unrolls k-blocks over the stages; our loop counter adds 3
// instructions per k-block. The choice between two scales of B is made at compile time or at run time (select_scales). The kernels
// of February choose at run time, as do the kernels of March if the greatest common divisor of tile_n and 128 is below 32. At run
// time, each 8 columns take a comparison and a select per row. The registers are ours.
//
// With a scale for each column of B (VECTOR_SCALED), a k-block loads the scales of the thread's columns beside its products, two
// columns at a time. Every partial sum takes an FMUL of its two scales besides the FFMA (deep_gemm/include/deep_gemm/
// fp8_wgrad_gemm.cuh at d5470d3b).
#include "workloads/hopper_gemm/consumer_parts.h"
#include "workloads/hopper_gemm/roles.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kScaleB = 8;     // R8, R9: one or two scales of B
constexpr uint32_t kScaleA = 10;    // R10, R11: scales of the thread's two rows
constexpr uint32_t kProduct = 12;   // R12-R15: row + 2 x column block
constexpr uint32_t kSelected = 18;  // R18-R21: products selected for 8 columns
constexpr uint32_t kRows = 2;
uint64_t scale_loaders(const HopperPlan& plan) { return plan.consumer_threads() - 32; }  // threads
constexpr uint32_t kSector = 32;
constexpr uint32_t kSumsAStep = 4;  // per 8 columns: two in each of two rows

// Each warp copies its part of the tile's scales. The last pass of a warp may use only some of its threads.
void add_b_scale_loads(Code& code, const HopperPlan& plan) {
  const uint64_t passes = (plan.b_scales() + scale_loaders(plan) - 1) / scale_loaders(plan);
  const uint64_t bytes = plan.b_scales() * HopperPlan::kScaleBytes / passes / (plan.consumer_threads() / 32);
  const auto sectors = static_cast<uint32_t>((bytes + kSector - 1) / kSector);
  for (uint64_t pass = 0; pass < passes; ++pass) {
    const uint64_t offset = pass * scale_loaders(plan) * HopperPlan::kScaleBytes;
    code.add(line({"LDG.E.CONSTANT R8, [R20.64+", immediate(offset), "]"}), {.bytes = sectors * kSector});
    code.add(line({"STS [R5+", immediate(offset), "], R8"}));
  }
}

void add_stage_wait(Code& code, int group) {
  const auto read = static_cast<int16_t>(HopperCursors::kRead + group);
  code.add("SHF.L.U32 R3, R2, 0x1f, RZ").add("ULEA UR44, UR38, UR37, 0x3");
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.barrier = HopperRings::kFull, .cursor = read, .advance = 1});
  code.add("@!P0 BRA `(.L_wait_full)");
}

void add_stage_release(Code& code, int group) {
  code.add("UPRMT UR45, UR36, 0x654, UR44");
  code.add("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR45], RZ",
           {.barrier = HopperRings::kEmpty, .cursor = static_cast<int16_t>(HopperCursors::kRelease + group), .advance = 1});
}

// First of the two registers with the selected scales of a thread's rows for 8 columns. Steps alternate between two pairs.
uint32_t selected(uint32_t step) { return kSelected + kRows * (step % 2); }

void add_scale_selection(Code& code, uint32_t step) {
  code.add(line({"ISETP.GT.AND P2, PT, R22, ", immediate(step), ", PT"}));
  for (uint32_t row = 0; row < kRows; ++row) {
    code.add(line(
        {"FSEL ", general(selected(step) + row), ", ", general(kProduct + row), ", ", general(kProduct + row + kRows), ", P2"}));
  }
}

// First of the registers with the scales of the thread's columns, behind the sums.
uint32_t first_column_scale(const HopperPlan& plan) { return first_sum(plan) + plan.accumulators() + HopperPlan::kSumShift; }

void add_column_scales(Code& code, const HopperPlan& plan) {
  for (uint32_t pair = 0; pair < plan.accumulators_per_block() / kSumsAStep; ++pair) {
    code.add(line({"LDS.64 ", general(first_column_scale(plan) + 2 * pair), ", [R7+", immediate(32ULL * pair), "]"}));
  }
}

void add_vector_promotion(Code& code, const HopperPlan& plan) {
  for (uint32_t i = 0; i < plan.accumulators(); ++i) {
    const uint32_t row = i % kSumsAStep / kRows;
    const uint32_t column = i % plan.accumulators_per_block() / kSumsAStep * 2 + i % 2;
    const std::string product = general(kSelected + i % 4);
    const std::string sum = general(first_sum(plan) + i);
    code.add(line({"FMUL ", product, ", ", general(kScaleA + row), ", ", general(first_column_scale(plan) + column)}));
    code.add(line({"FFMA ", sum, ", ", general(HopperRegisters::kFirstAccumulator + i), ", ", product, ", ", sum}));
  }
}

void add_scaled_promotion(Code& code, const HopperPlan& plan) {
  for (uint32_t block = 0; block < plan.b_scale_rows(); ++block) {
    for (uint32_t row = 0; row < kRows; ++row) {
      code.add(line({"FMUL ", general(kProduct + row + 2 * block), ", ", general(kScaleA + row), ", ", general(kScaleB + block)}));
    }
  }
  const bool select = plan.select_scales && plan.b_scale_rows() > 1;
  const uint32_t former = HopperPlan::kScaledColumns / 2;  // sums per thread in the tile's first 128 columns
  for (uint32_t i = 0; i < plan.accumulators(); ++i) {
    const uint32_t row = i % kSumsAStep / kRows;
    const uint32_t block = i % plan.accumulators_per_block() < former ? 0 : 1;
    const std::string sum = general(first_sum(plan) + i);
    if (select && i % kSumsAStep == 0) add_scale_selection(code, i / kSumsAStep);
    if (select) {
      code.add(line({"FFMA ", sum, ", ", general(HopperRegisters::kFirstAccumulator + i), ", ",
                     general(selected(i / kSumsAStep) + row), ", ", sum}));
      continue;
    }
    code.add(line({"FFMA ", sum, ", ", general(HopperRegisters::kFirstAccumulator + i), ", ", general(kProduct + row + 2 * block),
                   ", ", sum}));
  }
}

}  // namespace

void add_scaled_tile_start(Code& code, const HopperPlan& plan) {
  const uint32_t first = first_sum(plan);
  code.add(line({"MOV ", general(first), ", RZ"}));
  for (uint32_t i = 1; i + 1 < plan.accumulators(); i += 2) code.add(line({"CS2R ", general(first + i), ", SRZ"}));
  code.add(line({"MOV ", general(first + plan.accumulators() - 1), ", RZ"}));
  if (!plan.vector_scaled) add_b_scale_loads(code, plan);
}

void add_scaled_k_block(Code& code, const HopperPlan& plan, int group) {
  for (uint32_t block = 0; !plan.vector_scaled && block < plan.b_scale_rows(); ++block) {
    code.add(line({"LDS ", general(kScaleB + block), ", [UR41+", immediate(4 * plan.k_blocks * block), "]"}));
  }
  add_stage_wait(code, group);
  code.add("ULEA UR46, UR38, UR39, 0xa").add("ULEA UR47, UR38, UR40, 0xa");
  for (uint32_t row = 0; row < kRows; ++row) code.add(line({"LDS ", general(kScaleA + row), ", [R6+", immediate(32 * row), "]"}));
  code.add("WARPGROUP.ARRIVE");
  for (uint32_t i = 0; i < plan.k_steps() * plan.accumulator_blocks(); ++i) add_wgmma(code, plan, i, true);
  if (plan.vector_scaled) add_column_scales(code, plan);
  code.add("WARPGROUP.DEPBAR.LE gsb0, 0x0");
  add_stage_release(code, group);
  if (plan.vector_scaled) {
    add_vector_promotion(code, plan);
  } else {
    add_scaled_promotion(code, plan);
  }
  code.add("UIADD3 UR41, UR41, 0x4, URZ").add("UIADD3 UR38, UR38, 0x1, URZ");
  code.add("VIADD R4, R4, -0x1").add("ISETP.GT.AND P1, PT, R4, RZ, PT").add("@P1 BRA `(.L_k_block)");
}

}  // namespace warpfold::workloads
