// The end of a tile in a consumer warpgroup of FlashAttention-3. assumed, since it was not counted: the code follows the library's
// structure (hopper/softmax.h, epilogue_fwd.hpp), and is short beside the blocks of keys.
#include "workloads/flash_attention_3/roles.h"

namespace warpfold::workloads {
namespace {

using Registers = AttentionRegisters;

constexpr uint32_t kRows = 2;
constexpr uint32_t kScaleUniform = 37;  // UR37: softmax scale

// Bytes per warp: the warps share the tile's rows evenly.
uint32_t output_bytes(const FlashAttention3Plan& plan) {
  const uint32_t warps = 4 * plan.consumers();
  return (plan.rows() * plan.head_dim() * FlashAttention3Plan::kOutputBytes + warps - 1) / warps;
}

}  // namespace

void add_finish(Code& code) {
  for (const std::string_view distance : {"0x2", "0x1"}) {
    for (uint32_t row = 0; row < kRows; ++row) {
      code.add(line(
          {"SHFL.BFLY PT, ", general(Registers::kWork2 + row), ", ", general(Registers::kSum + row), ", ", distance, ", 0x1f"}));
    }
    for (uint32_t row = 0; row < kRows; ++row) {
      const std::string sum = general(Registers::kSum + row);
      code.add(line({"FADD.FTZ ", sum, ", ", sum, ", ", general(Registers::kWork2 + row)}));
    }
  }
  for (uint32_t row = 0; row < kRows; ++row) {
    const std::string sum = general(Registers::kSum + row);
    code.add(line({"FSETP.NEU.FTZ.AND P1, PT, ", sum, ", RZ, PT"}));
    code.add(line({"MUFU.RCP ", general(Registers::kRescale + row), ", ", sum}));
    code.add(line({"MUFU.LG2 ", general(Registers::kWork + row), ", ", sum}));
    code.add(line({"FMUL.FTZ ", general(Registers::kWork2 + row), ", ", general(Registers::kWork + row), ", 0.69314718246459961"}));
    code.add(line({"FFMA.FTZ ", general(Registers::kWork + row), ", ", general(Registers::kMaximum + row), ", ",
                   uniform(kScaleUniform), ", ", general(Registers::kWork2 + row)}));
  }
}

// Stores O through shared memory, in the place of V, by TMA; each warp stores its 16 rows. The rows' log-sum-exp go directly to
// memory.
void add_epilogue(Code& code, const FlashAttention3Plan& plan) {
  const std::string_view format = plan.type == configs::FP16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ";
  const uint32_t packed = Registers::score(plan);
  for (uint32_t i = 0; i < plan.outputs(); i += 2) {
    const uint32_t value = Registers::kOutput + i;
    code.add(line({format, general(packed + i / 2), ", ", general(value + 1), ", ", general(value)}));
  }
  const auto barrier = static_cast<int16_t>(AttentionBarriers::kOutput);
  const auto all = static_cast<uint16_t>(FlashAttention3Plan::kGroupThreads * plan.consumers());
  // Waits until all warpgroups have read V.
  code.add("BAR.SYNC.DEFER_BLOCKING 0x5", {.barrier = barrier, .count = all});
  for (uint32_t i = 0; i < plan.outputs() / 8; ++i) {
    code.add(line({"STSM.16.M88.4 [R0+", immediate(512 * i), "], ", general(packed + 4 * i)}));
  }
  code.add("FENCE.VIEW.ASYNC.S");
  code.add("@!P5 STG.E desc[UR42][R12.64], R14", {.bytes = 32, .stream = AttentionStreams::kRowStatistics});
  code.add("@!P5 STG.E desc[UR42][R12.64+0x20], R15", {.bytes = 32, .stream = AttentionStreams::kRowStatistics});
  code.add("UIADD3 UR49, UR39, 0x1000, URZ").add("UIADD3 UR50, UR42, 0x2f0, URZ").add("UMOV UR51, UR43");
  code.add("BAR.SYNC.DEFER_BLOCKING 0x5", {.barrier = barrier, .count = all});
  code.add("UTMASTG.4D [UR48], [UR50]", {.bytes = output_bytes(plan), .stream = AttentionStreams::kOutput});
}

// assumed: 16 bytes per thread at a time, after neighbours have exchanged their halves (hopper/epilogue_fwd.hpp, pack_gqa.h,
// store_O_direct). Rows after the last query are not stored.
void add_partial_epilogue(Code& code, const FlashAttention3Plan& plan) {
  const uint32_t stores = plan.outputs() / 4;
  const uint32_t warps = 4 * plan.consumers();
  const uint32_t bytes = (plan.rows() * plan.head_dim() * 4 + stores * warps - 1) / (stores * warps);
  code.add("@!P5 STG.E desc[UR42][R12.64], R14", {.bytes = 32, .stream = AttentionStreams::kRowStatistics});
  code.add("@!P5 STG.E desc[UR42][R12.64+0x20], R15", {.bytes = 32, .stream = AttentionStreams::kRowStatistics});
  for (uint32_t i = 0; i < stores; ++i) {
    const uint32_t value = Registers::kOutput + 4 * i;
    for (uint32_t word = 0; word < 2; ++word) {
      code.add(line({"SHFL.BFLY PT, ", general(Registers::score(plan) + word), ", ", general(value + 2 * word), ", 0x1, 0x1f"}));
      code.add(line({"SEL ", general(value + 2 * word), ", ", general(value + 2 * word), ", ",
                     general(Registers::score(plan) + word), ", P1"}));
    }
    code.add(line({"STG.E.128 desc[UR42][R12.64+", immediate(512 * i), "], ", general(value)}),
             {.bytes = bytes, .stream = AttentionStreams::kOutput});
  }
}

void add_output_release(Code& code) {
  code.add("UTMACMDFLUSH");
  code.add("SYNCS.ARRIVE.TRANS64.A1T0 RZ, [UR39], RZ", {.barrier = AttentionRings::kOutput});
}

}  // namespace warpfold::workloads
