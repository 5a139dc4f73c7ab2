#include "workloads/ampere_gemm/mma_warp.h"

#include <string>

#include "isa/block_border.h"
#include "workloads/common/program.h"
#include "workloads/common/recorded_loop.h"

namespace warpfold {

std::span<const EmbeddedFile> ampere_gemm_recordings();  // generated from sass/

namespace workloads {
namespace {

using Plan = AmpereGemmPlan;

constexpr uint32_t kWarps = Plan::kWarps;
constexpr uint32_t kCopyBytes = Plan::kCopyBytes;
constexpr uint16_t kMatrixWavefronts = 4;  // LDSM.x4: four 8x8 matrices of 128 bytes
constexpr uint32_t kFirstAccumulator = 4;  // R4-R131 in the recordings
constexpr uint32_t kAccumulators = 128;

// sm_86 runs code compiled for sm_80.
std::string recording(const isa::Architecture& architecture, const Plan& plan) {
  const std::string chip = architecture.name() == "sm_90" ? "sm90" : "sm80";
  return "mma_gemm_" + chip + "_128x128x" + std::to_string(plan.tile_k) + "_s" + std::to_string(plan.stages);
}

// Says what the recorded instructions move. Copies alternate between A and B. `copies`: whether they copy; the last passes of
// the loop have nothing left to fetch, so that their copies are predicated off.
std::vector<isa::Instruction> with_effects(const isa::Architecture& architecture, std::vector<isa::Instruction> code, bool copies) {
  bool of_b = false;
  for (isa::Instruction& instruction : code) {
    isa::Effect& effect = instruction.effect;
    switch (architecture.info(instruction).behaviour) {
      case isa::Behaviour::kCopyAsync:
        if (copies) {
          effect.bytes = kCopyBytes;
          effect.stream = of_b ? AmpereGemmStreams::kB : AmpereGemmStreams::kA;
        } else {
          instruction.guard = {.present = true, .negated = true};
        }
        of_b = !of_b;
        break;
      case isa::Behaviour::kLoadMatrix:
        effect.wavefronts = kMatrixWavefronts;
        break;
      case isa::Behaviour::kBarrierSync:
        effect.barrier = 0;
        effect.count = kWarps * 32;
        break;
      default:
        break;
    }
  }
  isa::uncount_copies(architecture, code);
  return code;
}

void add_copies(Code& code, const Plan& plan) {
  for (uint32_t i = 0; i < plan.copies(); ++i) {
    const std::string offset = immediate(i * 2048);
    code.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [R212+", offset, "], [R214.64]"}),
             {.bytes = kCopyBytes, .stream = AmpereGemmStreams::kA});
    code.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [R213+", offset, "], [R216.64]"}),
             {.bytes = kCopyBytes, .stream = AmpereGemmStreams::kB});
  }
  code.add("LDGDEPBAR", {.commit = true});
  code.add("IADD3 R214, P0, R214, 0x40, RZ").add("IADD3 R216, P1, R216, 0x40, RZ");
  code.add("IADD3.X R215, RZ, R215, RZ, P0, !PT").add("IADD3.X R217, RZ, R217, RZ, P1, !PT");
}

traces::Block prologue(const isa::Architecture& architecture, const Plan& plan) {
  Code code(architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R2, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x160]").add("ULDC.64 UR6, c[0x0][0x168]");
  code.add("SHF.R.U32.HI R3, RZ, 0x5, R0").add("LOP3.LUT R132, R0, 0x1f, RZ, 0xc0, !PT").add("IMAD R212, R3, 0x200, R132");
  code.add("IMAD.SHL.U32 R212, R212, 0x10, RZ").add("IADD3 R213, R212, 0x2000, RZ").add("IMAD R2, R2, 0x80, R3");
  code.add("IMAD.MOV.U32 R214, RZ, RZ, UR4").add("IMAD.MOV.U32 R215, RZ, RZ, UR5").add("IMAD.MOV.U32 R216, RZ, RZ, UR6");
  code.add("IMAD.MOV.U32 R217, RZ, RZ, UR7").add("IMAD.WIDE.U32 R214, R2, 0x10, R214").add("IMAD.WIDE.U32 R216, R2, 0x10, R216");
  for (uint32_t stage = 0; stage + 1 < plan.stages; ++stage) add_copies(code, plan);
  for (uint32_t i = 0; i < kAccumulators; i += 2) code.add(line({"CS2R ", general(kFirstAccumulator + i), ", SRZ"}));
  code.add("DEPBAR.LE.LDGSTS SB0, 0x1", {.count = static_cast<uint16_t>(plan.stages - 2)});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = kWarps * 32});
  for (const uint64_t fragment : {132, 152, 156, 160, 136, 140, 144, 148}) {
    code.add(line({"LDSM.16.M88.4 ", general(fragment), ", [R212]"}), {.wavefronts = kMatrixWavefronts});
  }
  code.add("NOP");  // waits for the fragments
  return block_of(code);
}

// mma.sync leaves two neighbouring columns of a row in a thread: 64 words of two elements each.
traces::Block epilogue(const isa::Architecture& architecture, const Plan& plan) {
  const bool hopper = architecture.name() == "sm_90";
  const std::string_view pack = plan.type == configs::BF16 ? (hopper ? "F2FP.BF16.F32.PACK_AB " : "F2FP.BF16.PACK_AB ")
                                                           : (hopper ? "F2FP.F16.F32.PACK_AB " : "F2FP.PACK_AB ");
  Code code(architecture);
  code.add("S2R R132, SR_TID.X").add("ULDC.64 UR4, c[0x0][0x170]").add("IMAD.MOV.U32 R134, RZ, RZ, UR4");
  code.add("IMAD.MOV.U32 R135, RZ, RZ, UR5").add("IMAD.WIDE.U32 R134, R132, 0x4, R134");
  for (uint32_t i = 0; i < kAccumulators; i += 2) {
    const std::string low = general(kFirstAccumulator + i);
    code.add(line({pack, low, ", ", general(kFirstAccumulator + i + 1), ", ", low}));
  }
  for (uint32_t i = 0; i < kAccumulators; i += 2) {
    code.add(line({"STG.E [R134.64+", immediate(i * 64), "], ", general(kFirstAccumulator + i)}),
             {.bytes = 4 * 32, .stream = AmpereGemmStreams::kC});
  }
  code.add("EXIT");
  return block_of(code);
}

}  // namespace

std::vector<traces::Node> mma_warp_body(const isa::Architecture& architecture, const Plan& plan) {
  const std::vector<isa::Instruction> loop = recorded_loop(architecture, ampere_gemm_recordings(), recording(architecture, plan));
  const uint64_t ahead = plan.stages - 1;  // k-tiles that the prologue has fetched
  std::vector<traces::Node> body{
      prologue(architecture, plan),
      traces::Loop{{.literal = plan.k_tiles() - ahead}, {traces::Block{with_effects(architecture, loop, true)}}},
      traces::Loop{{.literal = ahead}, {traces::Block{with_effects(architecture, loop, false)}}},
      epilogue(architecture, plan),
  };
  connect(architecture, body);
  return body;
}

}  // namespace workloads
}  // namespace warpfold
