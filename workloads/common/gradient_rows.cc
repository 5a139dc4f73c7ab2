// Loads, stores and arithmetic of both kernels follow the compiled kernels of FlashAttention-3 (flash-attention bafe2530, sm_90a,
// CUDA 13.0: 440 and 296 instructions; both are memory-bound). The remaining instructions of those counts are address arithmetic.
// They are generated as the same number of integer instructions, with an order and registers of our own.
#include "workloads/common/gradient_rows.h"

#include <string>
#include <string_view>
#include <utility>

#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

using Plan = GradientRows;

struct PreparationStreams {
  static constexpr int16_t kOutput = 0;
  static constexpr int16_t kOutputGradient = 1;
  static constexpr int16_t kQueryGradient = 2;
  static constexpr int16_t kRows = 3;
  static constexpr int16_t kLogSum = 4;
};
struct ConversionStreams {
  static constexpr int16_t kSums = 0;
  static constexpr int16_t kQueryGradient = 1;
};

constexpr uint32_t kWarps = 8;
constexpr uint32_t kAccessBytes = 512;  // 16 bytes per thread
constexpr uint32_t kFirst = 16;         // first register of the tile
constexpr uint32_t kPrepareAddresses = 280;
constexpr uint32_t kConvertAddresses = 217;

uint32_t accesses(uint32_t bytes) { return bytes / kAccessBytes / kWarps; }

void add_addresses(Code& code, uint32_t count) {
  code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("S2R R2, SR_CTAID.Y").add("ULDC.64 UR4, c[0x0][0x210]");
  constexpr std::string_view kMix[] = {"IADD3 R4, P1, R0, R1, RZ", "LEA R6, P2, R0, R4, 0x1", "IMAD R8, R1, 0x80, R0",
                                       "SHF.R.S32.HI R3, RZ, 0x1f, R0", "ISETP.GE.AND P3, PT, R0, R3, PT"};
  for (uint32_t i = 0; i < count; ++i) code.add(kMix[i % std::size(kMix)]);
}

void add_load(Code& code, uint32_t to, uint32_t index, int16_t stream) {
  code.add(line({"LDG.E.128 ", general(to), ", desc[UR4][R4.64+", immediate(512ULL * index), "]"}),
           {.bytes = kAccessBytes, .stream = stream});
}
void add_store(Code& code, const std::string& from, uint32_t index, int16_t stream) {
  code.add(line({"STG.E.128 desc[UR4][R6.64+", immediate(512ULL * index), "], ", from}), {.bytes = kAccessBytes, .stream = stream});
}

// Sums over the 16 threads that share a row (8 threads at head_dim 64).
void add_row_sum(Code& code, const std::string& sum, uint32_t threads) {
  for (uint32_t distance = threads / 2; distance > 0; distance /= 2) {
    code.add(line({"SHFL.BFLY PT, R2, ", sum, ", ", immediate(distance), ", 0x1f"}));
    code.add(line({"FADD.FTZ ", sum, ", ", sum, ", R2"}));
  }
  code.add(line({"STG.E desc[UR4][R8.64], ", sum}), {.bytes = 4 * 32 / threads, .stream = PreparationStreams::kRows});
}

void add_products(Code& code, uint32_t output, uint32_t gradient, const std::string& sum) {
  for (uint32_t word = 0; word < 4; ++word) {
    for (const std::string_view half : {".H0_H0", ".H1_H1"}) {
      code.add(line({"HADD2.F32 R2, -RZ, ", general(output + word), half}));
      code.add(line({"HADD2.F32 R3, -RZ, ", general(gradient + word), half}));
      code.add(line({"FFMA.FTZ ", sum, ", R2, R3, ", sum}));
    }
  }
}

void add_pack(Code& code, const Plan& plan, uint32_t first, uint32_t index) {
  const std::string_view format = plan.type == configs::BF16 ? "F2FP.BF16.F32.PACK_AB " : "F2FP.F16.F32.PACK_AB ";
  code.add(line({format, general(first + index / 2), ", ", general(first + index + 1), ", ", general(first + index)}));
}

std::vector<traces::Node> preparation_body(const Plan& plan) {
  Code code(*plan.architecture);
  add_addresses(code, kPrepareAddresses);
  const uint32_t log_sum_bytes = plan.tile_rows * 4 / kWarps;
  code.add("LDG.E R12, desc[UR4][R8.64]", {.bytes = log_sum_bytes, .stream = PreparationStreams::kLogSum});
  const uint32_t loads = accesses(plan.tile_bytes());
  for (uint32_t i = 0; i < loads; ++i) add_load(code, kFirst + 8 * i, i, PreparationStreams::kOutput);
  for (uint32_t i = 0; i < loads; ++i) add_load(code, kFirst + 8 * i + 4, i, PreparationStreams::kOutputGradient);
  for (uint32_t i = 0; i < loads; ++i) {
    code.add("MOV R10, RZ");
    add_products(code, kFirst + 8 * i, kFirst + 8 * i + 4, "R10");
    add_row_sum(code, "R10", plan.head_dim / 8);
  }
  code.add("FMUL.FTZ R12, R12, 1.4426950216293335")
      .add("STG.E desc[UR4][R8.64], R12", {.bytes = log_sum_bytes, .stream = PreparationStreams::kRows});
  for (uint32_t i = 0; i < 2 * loads; ++i) add_store(code, "RZ", i, PreparationStreams::kQueryGradient);
  return {block_of(code.add("EXIT"))};
}

std::vector<traces::Node> conversion_body(const Plan& plan) {
  Code code(*plan.architecture);
  add_addresses(code, kConvertAddresses);
  const auto together = [&code] { code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = 32 * kWarps}); };
  together();
  // In the library one warp loads the whole tile; here each warp loads an eighth.
  const uint32_t bytes = 2 * plan.tile_bytes() / kWarps;
  code.add("SYNCS.ARRIVE.TRANS64 RZ, [R9], R10", {.barrier = 0, .tx_bytes = bytes});
  code.add("UTMALDG.4D [UR8], [UR16], desc[UR14]", {.bytes = bytes, .stream = ConversionStreams::kSums, .barrier = 0});
  code.add("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R9], R10", {.barrier = 0}).add("@!P0 BRA `(.L_wait)");
  const uint32_t values = plan.tile_bytes() / 2 / (32 * kWarps);
  for (uint32_t i = 0; i < values; i += 4) code.add(line({"LDS.128 ", general(kFirst + i), ", [R0+", immediate(1024ULL * i), "]"}));
  for (uint32_t i = 0; i < values; ++i) {
    code.add(line({"FMUL.FTZ ", general(kFirst + i), ", ", general(kFirst + i), ", UR5"}));
  }
  for (uint32_t i = 0; i < values; i += 2) add_pack(code, plan, kFirst, i);
  for (uint32_t i = 0; i < values / 2; i += 4)
    code.add(line({"STSM.16.M88.4 [R0+", immediate(256ULL * i), "], ", general(kFirst + i)}));
  together();
  for (uint32_t i = 0; i < values / 2; i += 4)
    code.add(line({"LDS.128 ", general(kFirst + i), ", [R1+", immediate(256ULL * i), "]"}));
  for (uint32_t i = 0; i < values / 2; i += 4) add_store(code, general(kFirst + i), i / 4, ConversionStreams::kQueryGradient);
  return {block_of(code.add("EXIT"))};
}

void add_tiles(traces::Kernel& kernel, std::vector<traces::Node> body, uint64_t tiles) {
  kernel.roles = {{"rows", kWarps, std::move(body)}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"tile", {}}};
  kernel.grid = {{0, tiles}};
}

}  // namespace

void add_gradient_preparation(traces::Kernel& kernel, const Plan& rows, uint64_t tiles) {
  add_tiles(kernel, preparation_body(rows), tiles);
  kernel.streams = {{"O", false, 1, 1}, {"dO", false, 1, 1}, {"dQ_sums", true, 1, 1}, {"rows", true, 1, 1}, {"LSE", false, 1, 1}};
}

void add_gradient_conversion(traces::Kernel& kernel, const Plan& rows, uint64_t tiles) {
  add_tiles(kernel, conversion_body(rows), tiles);
  kernel.shared_memory_bytes = 3 * rows.tile_bytes() + 128;  // dQ in FP32 and in 16 bits, and a barrier
  kernel.rings = {{"sums", 1, kWarps, false}};
  kernel.streams = {{"dQ_sums", false, 1, 1}, {"dQ", true, 1, 1}};
}

}  // namespace warpfold::workloads
