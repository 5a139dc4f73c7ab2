#include "workloads/common/attention_combine.h"

#include <algorithm>

#include "workloads/common/key_reuse.h"
#include "workloads/common/program.h"

namespace warpfold::workloads {
namespace {

constexpr uint32_t kBuffers = 4;       // buffers for parts of O, all but one in flight
constexpr uint32_t kFewestParts = 32;  // the room for the parts' weights; doubled up to 256 as parts need
constexpr uint32_t kPartBytes = 512;   // 16 bytes per thread

enum Stream : int16_t { kParts = 0, kWeights = 1, kOutput = 2, kStatistics = 3 };

// Registers: R4 address of the part, R8 sums of O, R12 a part of O, R16 its weight, R20 statistics.
struct Combine {
  const isa::Architecture& architecture;
  AttentionCombine shape;

  uint64_t parts() const { return shape.parts; }
  uint32_t columns() const { return shape.head_dim % 128 == 0 ? 128 : 64; }
  uint32_t rows() const { return shape.warps * kPartBytes / (4 * columns()); }
  uint64_t room() const {
    uint64_t most = kFewestParts;
    while (most < parts()) most *= 2;
    return most;
  }
  uint32_t shared_memory_bytes() const {
    const auto weights = static_cast<uint32_t>(room() * rows() * 4);
    return kBuffers * rows() * columns() * 4 + weights + 4 * rows();
  }

  void add_copy(Code& code) const {
    code.add("IADD3 R4, P1, R4, R6, RZ").add("IADD3.X R5, R5, R7, RZ, P1, !PT");
    code.add("LDGSTS.E.BYPASS.LTC128B.128 [R3], [R4.64]", {.bytes = kPartBytes, .stream = kParts});
    code.add("LDGDEPBAR", {.commit = true});
  }
  void add_part(Code& code, uint32_t left) const {
    code.add(line({"DEPBAR.LE.LDGSTS SB0, ", immediate(left)}), {.count = static_cast<uint16_t>(left)});
    code.add("LDS.128 R12, [R3]").add("LDS R16, [R2]");
    for (uint32_t i = 0; i < 4; ++i)
      code.add(line({"FFMA.FTZ ", general(8 + i), ", ", general(12 + i), ", R16, ", general(8 + i)}));
    code.add("IADD3 R2, R2, 0x20, RZ").add("IADD3 R3, R3, 0x1000, RZ");
  }

  Code start() const {
    Code code(architecture);
    code.add("S2R R0, SR_TID.X").add("S2R R1, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x210]").add("LDC.64 R6, c[0x0][0x228]");
    code.add("IMAD R2, R0, 0x4, RZ").add("IMAD R3, R0, 0x10, RZ").add("IMAD.WIDE.U32 R4, R1, 0x1000, R6");
    // Load the log-sum-exps of all parts of the CTA's rows; the warps share them evenly.
    const auto bytes = static_cast<uint32_t>((parts() * rows() * 4 + shape.warps - 1) / shape.warps);
    code.add("LDGSTS.E [R2], [R4.64]", {.bytes = bytes, .stream = kWeights});
    code.add("LDGDEPBAR", {.commit = true});
    for (uint64_t i = 0; i < std::min<uint64_t>(parts(), kBuffers - 1); ++i) add_copy(code);
    return code;
  }

  // Weights: exp(part's log-sum-exp - largest) / sum. A thread computes `values` weights; all weights of a row belong to one warp.
  Code weights() const {
    Code code(architecture);
    const auto ahead = static_cast<uint32_t>(std::min<uint64_t>(parts(), kBuffers - 1));
    const auto values = static_cast<uint32_t>(room() * rows() / (32 * shape.warps));
    code.add(line({"DEPBAR.LE.LDGSTS SB0, ", immediate(ahead)}), {.count = static_cast<uint16_t>(ahead)});
    const isa::Effect all{.barrier = 0, .count = static_cast<uint16_t>(32 * shape.warps)};
    code.add("BAR.SYNC.DEFER_BLOCKING 0x0", all);
    for (uint32_t i = 0; i < values; ++i) code.add(line({"LDS ", general(32 + i), ", [R2+", immediate(128 * i), "]"}));
    code.add("MOV R20, 0xff800000");
    for (uint32_t i = 0; i < values; ++i) code.add(line({"FMNMX.FTZ R20, R20, ", general(32 + i), ", !PT"}));
    for (const std::string_view distance : {"0x10", "0x8", "0x4", "0x2", "0x1"})
      code.add(line({"SHFL.BFLY PT, R21, R20, ", distance, ", 0x1f"})).add("FMNMX.FTZ R20, R20, R21, !PT");
    code.add("MOV R22, RZ");
    for (uint32_t i = 0; i < values; ++i) {
      code.add(line({"FADD.FTZ ", general(32 + i), ", ", general(32 + i), ", -R20"}));
      code.add(line({"FMUL.FTZ ", general(32 + i), ", ", general(32 + i), ", 1.4426950216293335"}));
      code.add(line({"MUFU.EX2 ", general(32 + i), ", ", general(32 + i)}));
      code.add(line({"FADD.FTZ R22, R22, ", general(32 + i)}));
    }
    for (const std::string_view distance : {"0x10", "0x8", "0x4", "0x2", "0x1"})
      code.add(line({"SHFL.BFLY PT, R21, R22, ", distance, ", 0x1f"})).add("FADD.FTZ R22, R22, R21");
    code.add("MUFU.LG2 R23, R22").add("MUFU.RCP R24, R22").add("FFMA.FTZ R23, R23, 0.69314718246459961, R20");
    for (uint32_t i = 0; i < values; ++i) {
      code.add(line({"FMUL.FTZ ", general(32 + i), ", ", general(32 + i), ", R24"}));
      code.add(line({"STS [R2+", immediate(128 * i), "], ", general(32 + i)}));
    }
    // Of the CTAs that share a row, the first alone stores the row's log-sum-exp.
    const uint32_t columns_of_row = shape.head_dim / columns();
    code.add("@!P2 STG.E [R6.64], R23", {.bytes = std::max(1U, 4 * rows() / shape.warps / columns_of_row), .stream = kStatistics});
    code.add("BAR.SYNC.DEFER_BLOCKING 0x0", all);
    for (uint32_t i = 0; i < 4; ++i) code.add(line({"MOV ", general(8 + i), ", RZ"}));
    return code;
  }

  std::vector<traces::Node> body() const {
    std::vector<traces::Node> body{block_of(start()), block_of(weights())};
    const auto ahead = static_cast<uint32_t>(std::min<uint64_t>(parts(), kBuffers - 1));
    if (parts() > ahead) {
      Code code(architecture);
      add_copy(code);
      add_part(code, ahead);
      code.add("IADD3 R25, R25, -0x1, RZ").add("ISETP.GT.AND P0, PT, R25, RZ, PT").add("@P0 BRA `(.L_part)");
      body.push_back(loop_of(code, {.literal = parts() - ahead}));
    }
    Code rest(architecture);
    for (uint32_t left = ahead; left > 0; --left) add_part(rest, left - 1);
    const bool hopper = architecture.name() == "sm_90";
    const std::string_view pack = hopper ? (shape.fp16 ? "F2FP.F16.F32.PACK_AB " : "F2FP.BF16.F32.PACK_AB ")
                                         : (shape.fp16 ? "F2FP.PACK_AB " : "F2FP.BF16.PACK_AB ");
    rest.add(line({pack, "R8, R9, R8"})).add(line({pack, "R9, R11, R10"}));
    rest.add("STG.E.64 [R6.64], R8", {.bytes = kPartBytes / 2, .stream = kOutput}).add("EXIT");
    body.push_back(block_of(rest));
    connect(architecture, body);
    return body;
  }
};

traces::Kernel nothing_to_combine(const isa::Architecture& architecture) {
  traces::Kernel kernel;
  kernel.name = "attention_combine";
  kernel.architecture = architecture.name();
  kernel.source = "attention_combine parts=1";
  kernel.roles = {{"idle", 1, {block_of(Code(architecture).add("EXIT"))}}};
  kernel.cta_classes = {{"empty", {}}};
  kernel.grid = {{0, 1}};
  return kernel;
}

}  // namespace

traces::Kernel make_attention_combine(const AttentionCombine& shape, const isa::Architecture& architecture,
                                      const configs::Gpu& gpu) {
  if (shape.parts < 2) return nothing_to_combine(architecture);
  const Combine combine{architecture, shape};
  traces::Kernel kernel;
  kernel.name = "attention_combine";
  kernel.architecture = architecture.name();
  kernel.source = "attention_combine rows=" + std::to_string(shape.rows) + " head_dim=" + std::to_string(shape.head_dim) +
                  " parts=" + std::to_string(shape.parts);
  kernel.shared_memory_bytes = combine.shared_memory_bytes();
  kernel.roles = {{"combine", shape.warps, combine.body()}};
  kernel.registers_per_thread = registers_named(kernel.roles);
  kernel.cta_classes = {{"rows", {}}};
  kernel.grid = {{0, (shape.rows + combine.rows() - 1) / combine.rows() * (shape.head_dim / combine.columns())}};
  const uint64_t bytes = shape.rows * shape.parts * 4 * (shape.head_dim + 1);
  constexpr uint64_t kShares = 1024;
  const auto gone = static_cast<uint64_t>(probability_of_miss(bytes, gpu.l2().bytes()) * kShares + 0.5);
  kernel.streams = {{"O_parts", false, gone, kShares}, {"LSE_parts", false, gone, kShares}, {"O", true, 1, 1}, {"LSE", true, 1, 1}};
  return kernel;
}

}  // namespace warpfold::workloads
