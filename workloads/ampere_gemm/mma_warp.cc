#include "workloads/ampere_gemm/mma_warp.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "isa/block_border.h"
#include "workloads/ampere_gemm/narrow_copies.h"
#include "workloads/common/program.h"
#include "workloads/common/recorded_loop.h"

namespace warpfold {

std::span<const EmbeddedFile> ampere_gemm_recordings();  // generated from sass/

namespace workloads {
namespace {

using Plan = AmpereGemmPlan;

constexpr uint32_t kCopyBytes = Plan::kCopyBytes;
constexpr uint16_t kMatrixWavefronts = 4;  // LDSM.x4: four 8x8 matrices of 128 bytes
constexpr uint32_t kFirstAccumulator = 4;  // the same in all recordings

// First register behind the accumulators. The main loop uses it for fragments.
uint32_t scratch(const Plan& plan) { return kFirstAccumulator + plan.tile.accumulators; }

// Bytes of a warp's copy that lie within its matrix.
uint32_t bytes_of_copy(const Plan& plan, bool b) {
  return std::max(1U, static_cast<uint32_t>(std::lround(kCopyBytes * (b ? plan.filled_n() : plan.filled_m()))));
}

uint16_t threads(const Plan& plan) { return static_cast<uint16_t>(plan.tile.warps * 32); }

// Loops were recorded for sm_80 and sm_90. sm_86 and sm_89 run code compiled for sm_80. assumed: sm_100, sm_103 and sm_120, for
// which nothing was recorded, also run the loop of sm_80.
std::string recording(const isa::Architecture& architecture, const Plan& plan) {
  const std::string chip = architecture.name() == "sm_90" ? "sm90" : "sm80";
  const RecordedTile& tile = plan.tile;
  return "mma_gemm_" + chip + "_" + std::to_string(tile.m) + "x" + std::to_string(tile.n) + "x" + std::to_string(tile.k) + "_s" +
         std::to_string(tile.stages);
}

// True if the copy-th copy of a warp in a stage loads a part of B.
bool is_of_b(const Plan& plan, uint32_t copy) { return plan.tile.alternating ? copy % 2 == 1 : copy >= plan.a_copies(); }

// Replaces the recorded HMMA by the instruction for the plan's type.
std::vector<isa::Instruction> of_type(const isa::Architecture& architecture, const Plan& plan, std::vector<isa::Instruction> code) {
  const std::string name = mma_name(plan.type);
  const uint16_t opcode = architecture.resolve(name).value();
  for (isa::Instruction& instruction : code) {
    if (!instruction.mnemonic.starts_with("HMMA.16816.F32")) continue;
    instruction.mnemonic = name;
    instruction.opcode = opcode;
  }
  return code;
}

// Adds the effects of the recorded instructions: bytes, streams and barriers. `copies`: false in the last passes of the loop, which
// have nothing left to fetch, so that their copies are predicated off.
std::vector<isa::Instruction> with_effects(const isa::Architecture& architecture, const Plan& plan,
                                           std::vector<isa::Instruction> code, bool copies) {
  uint32_t copy = 0;
  for (isa::Instruction& instruction : code) {
    isa::Effect& effect = instruction.effect;
    switch (architecture.info(instruction).behaviour) {
      case isa::Behaviour::kCopyAsync:
        if (copies) {
          effect.bytes = bytes_of_copy(plan, is_of_b(plan, copy));
          effect.stream = is_of_b(plan, copy) ? AmpereGemmStreams::kB : AmpereGemmStreams::kA;
        } else {
          instruction.guard = {.present = true, .negated = true};
        }
        ++copy;
        break;
      case isa::Behaviour::kLoadMatrix:
        effect.wavefronts = kMatrixWavefronts;
        break;
      case isa::Behaviour::kBarrierSync:
        effect.barrier = 0;
        effect.count = threads(plan);
        break;
      default:
        break;
    }
  }
  isa::remove_copy_counter(architecture, code);
  return with_narrow_copies(architecture, plan, std::move(code));
}

// Registers that hold the source and destination addresses of copies.
struct Addresses {
  std::string a_shared, b_shared, a, a_high, b, b_high;

  explicit Addresses(const Plan& plan)
      : a_shared(general(plan.tile.addresses)),
        b_shared(general(plan.tile.addresses + 1)),
        a(general(plan.tile.addresses + 2)),
        a_high(general(plan.tile.addresses + 3)),
        b(general(plan.tile.addresses + 4)),
        b_high(general(plan.tile.addresses + 5)) {}
};

void add_copies(Code& code, const Plan& plan) {
  const Addresses at(plan);
  uint32_t of_a = 0;
  uint32_t of_b = 0;
  for (uint32_t i = 0; i < plan.a_copies() + plan.b_copies(); ++i) {
    const bool b = is_of_b(plan, i);
    const std::string offset = immediate((b ? of_b++ : of_a++) * kCopyBytes * plan.tile.warps);
    Code copy(code.architecture());
    copy.add(line({"LDGSTS.E.BYPASS.LTC128B.128 [", b ? at.b_shared : at.a_shared, "+", offset, "], [", b ? at.b : at.a, ".64]"}),
             {.bytes = bytes_of_copy(plan, b), .stream = b ? AmpereGemmStreams::kB : AmpereGemmStreams::kA});
    code.add(plan.accesses() == 1 ? copy.instructions() : narrow_copies(code.architecture(), plan, copy.instructions().front()));
  }
  code.add("LDGDEPBAR", {.commit = true});
  code.add(line({"IADD3 ", at.a, ", P0, ", at.a, ", 0x40, RZ"})).add(line({"IADD3 ", at.b, ", P1, ", at.b, ", 0x40, RZ"}));
  code.add(line({"IADD3.X ", at.a_high, ", RZ, ", at.a_high, ", RZ, P0, !PT"}));
  code.add(line({"IADD3.X ", at.b_high, ", RZ, ", at.b_high, ", RZ, P1, !PT"}));
}

// Fragments that the recorded loop loads after its barrier, for the start of its next pass.
std::vector<std::string> first_fragments(const isa::Architecture& architecture, const std::vector<isa::Instruction>& loop) {
  std::vector<std::string> fragments;
  bool behind = false;
  for (const isa::Instruction& instruction : loop) {
    const isa::Behaviour behaviour = architecture.info(instruction).behaviour;
    if (behaviour == isa::Behaviour::kBarrierSync) behind = true;
    if (behind && behaviour == isa::Behaviour::kLoadMatrix) fragments.push_back(instruction.operands.front().text);
  }
  return fragments;
}

traces::Block prologue(const isa::Architecture& architecture, const Plan& plan, const std::vector<isa::Instruction>& loop) {
  const Addresses at(plan);
  const std::string lane = general(scratch(plan));
  Code code(architecture);
  code.add("S2R R0, SR_TID.X").add("S2R R2, SR_CTAID.X").add("ULDC.64 UR4, c[0x0][0x160]").add("ULDC.64 UR6, c[0x0][0x168]");
  code.add("SHF.R.U32.HI R3, RZ, 0x5, R0").add(line({"LOP3.LUT ", lane, ", R0, 0x1f, RZ, 0xc0, !PT"}));
  code.add(line({"IMAD ", at.a_shared, ", R3, 0x200, ", lane}))
      .add(line({"IMAD.SHL.U32 ", at.a_shared, ", ", at.a_shared, ", 0x10, RZ"}));
  code.add(line({"IADD3 ", at.b_shared, ", ", at.a_shared, ", ", immediate(plan.a_bytes()), ", RZ"}));
  code.add(line({"IMAD R2, R2, ", immediate(plan.tile.m), ", R3"}));
  code.add(line({"IMAD.MOV.U32 ", at.a, ", RZ, RZ, UR4"})).add(line({"IMAD.MOV.U32 ", at.a_high, ", RZ, RZ, UR5"}));
  code.add(line({"IMAD.MOV.U32 ", at.b, ", RZ, RZ, UR6"})).add(line({"IMAD.MOV.U32 ", at.b_high, ", RZ, RZ, UR7"}));
  code.add(line({"IMAD.WIDE.U32 ", at.a, ", R2, 0x10, ", at.a})).add(line({"IMAD.WIDE.U32 ", at.b, ", R2, 0x10, ", at.b}));
  for (uint32_t stage = 0; stage + 1 < plan.tile.stages; ++stage) add_copies(code, plan);
  for (uint32_t i = 0; i < plan.tile.accumulators; i += 2) code.add(line({"CS2R ", general(kFirstAccumulator + i), ", SRZ"}));
  code.add("DEPBAR.LE.LDGSTS SB0, 0x1", {.count = static_cast<uint16_t>(plan.tile.stages - 2)});
  code.add("BAR.SYNC.DEFER_BLOCKING 0x0", {.barrier = 0, .count = threads(plan)});
  for (const std::string& fragment : first_fragments(architecture, loop)) {
    code.add(line({"LDSM.16.M88.4 ", fragment, ", [", at.a_shared, "]"}), {.wavefronts = kMatrixWavefronts});
  }
  code.add("NOP");  // waits for the fragments
  return block_of(code);
}

// mma.sync gives a thread two neighbouring columns of a row: one packed word of two 16-bit results, or two words of 4-byte results.
traces::Block epilogue(const isa::Architecture& architecture, const Plan& plan) {
  const bool hopper = architecture.name() == "sm_90";
  const std::string_view pack = plan.type == configs::BF16 || plan.type == configs::FP8
                                    ? (hopper ? "F2FP.BF16.F32.PACK_AB " : "F2FP.BF16.PACK_AB ")
                                    : (hopper ? "F2FP.F16.F32.PACK_AB " : "F2FP.PACK_AB ");
  const std::string thread = general(scratch(plan));
  const std::string address = general(scratch(plan) + 2);
  const std::string high = general(scratch(plan) + 3);
  Code code(architecture);
  code.add(line({"S2R ", thread, ", SR_TID.X"})).add("ULDC.64 UR4, c[0x0][0x170]");
  code.add(line({"IMAD.MOV.U32 ", address, ", RZ, RZ, UR4"})).add(line({"IMAD.MOV.U32 ", high, ", RZ, RZ, UR5"}));
  code.add(line({"IMAD.WIDE.U32 ", address, ", ", thread, ", 0x4, ", address}));
  const bool packs = plan.result_bytes() == 2;
  const double filled = plan.filled_m() * plan.filled_n();
  for (uint32_t i = 0; packs && i < plan.tile.accumulators; i += 2) {
    const std::string low = general(kFirstAccumulator + i);
    code.add(line({pack, low, ", ", general(kFirstAccumulator + i + 1), ", ", low}));
  }
  for (uint32_t i = 0; i < plan.tile.accumulators; i += 2) {
    code.add(line({packs ? "STG.E [" : "STG.E.64 [", address, ".64+", immediate(i * 64), "], ", general(kFirstAccumulator + i)}),
             {.bytes = std::max(1U, static_cast<uint32_t>(std::lround(2 * plan.result_bytes() * 32 * filled))),
              .stream = AmpereGemmStreams::kC});
  }
  code.add("EXIT");
  return block_of(code);
}

}  // namespace

std::vector<traces::Node> mma_warp_body(const isa::Architecture& architecture, const Plan& plan) {
  const std::vector<isa::Instruction> loop =
      of_type(architecture, plan, recorded_loop(architecture, ampere_gemm_recordings(), recording(architecture, plan)));
  const uint64_t ahead = plan.tile.stages - 1;  // k-tiles that the prologue has requested
  std::vector<traces::Node> body{
      prologue(architecture, plan, loop),
      traces::Loop{{.literal = plan.k_tiles() - ahead}, {traces::Block{with_effects(architecture, plan, loop, true)}}},
      traces::Loop{{.literal = ahead}, {traces::Block{with_effects(architecture, plan, loop, false)}}},
      epilogue(architecture, plan),
  };
  connect(architecture, body);
  return body;
}

}  // namespace workloads
}  // namespace warpfold
