#include "isa/assembler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/operand.h"
#include "recorded_loops.h"

namespace warpfold::isa {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Architecture& sm_90() { return *Architecture::find("sm_90").value(); }

Instruction parse(std::string_view text) {
  auto instruction = parse_instruction(sm_90(), text, "test", 1);
  if (!instruction) throw std::runtime_error(instruction.error().text());
  return *instruction;
}

Diagnostic error_of(std::string_view text) {
  auto instruction = parse_instruction(sm_90(), text, "test.wfs", 7);
  if (instruction) throw std::logic_error("parsed: " + std::string(text));
  return instruction.error();
}

// Words read and written, as `widths of destinations | widths of sources`.
std::string widths(std::string_view text) {
  std::string result;
  const Instruction instruction = parse(text);
  for (const Operand& operand : instruction.operands) {
    result.append(operand.destination ? "d" : "s").append(std::to_string(operand.width)).append(" ");
  }
  return result;
}

}  // namespace

TEST(Assembler, RecordedCodePrintsBackToTheSameBytes) {
  for (const RecordedLoop& loop : recorded_loops()) {
    ASSERT_FALSE(loop.code.empty()) << loop.name;
    for (size_t i = 0; i < loop.code.size(); ++i) ASSERT_EQ(format_instruction(loop.code[i]), loop.lines[i]) << loop.name;
  }
}

TEST(Assembler, RegisterWordsAgreeWithTheMachineCode) {
  for (const RecordedLoop& loop : recorded_loops()) {
    int read = 0;
    int written = 0;
    for (const Instruction& instruction : loop.code) {
      for (const Operand& operand : instruction.operands) {
        if (operand.kind == OperandKind::kUniformRegister) continue;
        (operand.destination ? written : read) += operand.width;
      }
    }
    EXPECT_EQ(read, loop.words_read) << loop.name;
    EXPECT_EQ(written, loop.words_written) << loop.name;
  }
}

TEST(Assembler, ControlCodeAndEffectRoundTrip) {
  const std::string line = "[B0----5:R1:W4:Y:S15] @!UP0 LDG.E.128 R4, desc[UR4][R2.64+0x10] ; {bytes=512 stream=0 commit l1_hit}";
  const Instruction instruction = parse(line);
  EXPECT_EQ(instruction.control.wait_mask, 0b100001);
  EXPECT_EQ(instruction.control.read_counter, 1);
  EXPECT_EQ(instruction.control.write_counter, 4);
  EXPECT_TRUE(instruction.control.yield);
  EXPECT_EQ(instruction.control.stall, 15);
  EXPECT_TRUE(instruction.guard.negated && instruction.guard.uniform && instruction.guard.predicate == 0);
  EXPECT_EQ(instruction.effect.bytes, 512U);
  EXPECT_EQ(instruction.effect.stream, 0);
  EXPECT_TRUE(instruction.effect.commit);
  EXPECT_TRUE(instruction.effect.l1_hit);
  EXPECT_EQ(format_instruction(instruction), line);
}

TEST(Assembler, ControlCodeMayBeLeftOut) {
  EXPECT_EQ(parse("EXIT").control, ControlCode{});
  EXPECT_EQ(format_instruction(parse("  IADD3  R1 ,R2,  R3,RZ")), "[B------:R-:W-:-:S01] IADD3 R1, R2, R3, RZ ;");
}

TEST(Assembler, DestinationsAndWidths) {
  EXPECT_EQ(widths("IADD3 R165, P2, P1, R233, UR12, R248"), "d1 d0 d0 s1 s1 s1 ");
  EXPECT_EQ(widths("IADD3.X R3, R3, UR24, RZ, P0, !PT"), "d1 s1 s1 s0 s0 s0 ");
  EXPECT_EQ(widths("LOP3.LUT P0, RZ, R5, 0x1, RZ, 0xc0, !PT"), "d0 d0 s1 s0 s0 s0 s0 ");
  EXPECT_EQ(widths("ISETP.GE.AND P0, PT, R14, R3, PT"), "d0 d0 s1 s1 s0 ");
  EXPECT_EQ(widths("SHFL.BFLY PT, R107, R106, 0x2, 0x1f"), "d0 d1 s1 s0 s0 ");
  EXPECT_EQ(widths("IMAD.WIDE R4, R2, 0x8, R6"), "d2 s1 s0 s2 ");
  EXPECT_EQ(widths("HMMA.16816.F32 R4, R132.reuse, R136, R4"), "d4 s4 s2 s4 ");
  EXPECT_EQ(widths("HMMA.16816.F16 R4, R8, R12, RZ"), "d2 s4 s2 s0 ");
  EXPECT_EQ(widths("HGMMA.64x128x16.F32 R24, gdesc[UR8], R24, gsb0"), "d64 s0 s64 s0 ");
  EXPECT_EQ(widths("HGMMA.64x256x16.F16 R24, R4, gdesc[UR8], RZ, !UPT"), "d64 s4 s0 s0 s0 ");
  EXPECT_EQ(widths("LDG.E.128.CONSTANT R4, desc[UR4][R2.64]"), "d4 s2 ");
  EXPECT_EQ(widths("STG.E.64 [R2.64+0x10], R6"), "s2 s2 ");
  EXPECT_EQ(widths("LDSM.16.MT88.4 R8, [R3+UR5+0x800]"), "d4 s1 ");
  EXPECT_EQ(widths("LDS.U8 R8, [UR5]"), "d1 s0 ");
  EXPECT_EQ(widths("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [R3+URZ], R2"), "d0 s1 s1 ");
  EXPECT_EQ(widths("SYNCS.ARRIVE.TRANS64.RED.A1T0 RZ, [UR4], RZ"), "d0 s0 s0 ");
  EXPECT_EQ(widths("ULDC.64 UR6, c[0x0][0x208]"), "d2 s0 ");
  EXPECT_EQ(widths("VOTE.ANY R0, PT, P0"), "d1 d0 s0 ");
  EXPECT_EQ(widths("DFMA R4, R6, R8, R10"), "d2 s2 s2 s2 ");
  EXPECT_EQ(widths("CS2R R4, SRZ"), "d2 s0 ");
  EXPECT_EQ(widths("UTMALDG.3D [UR8], [UR4], desc[UR6]"), "s0 s0 s0 ");
}

TEST(Assembler, OperandKindsAndSlots) {
  const Instruction compare = parse("HSET2.LE.AND R28, R25.H0_H0, |R3|, PT");
  EXPECT_EQ(compare.operands[1].slot, 0);
  EXPECT_EQ(compare.operands[2].slot, 2);  // the recorded code's reuse bit of this operand is bit 2
  EXPECT_EQ(parse("MOV R6, R4.reuse").operands[1].slot, 1);
  EXPECT_TRUE(parse("MOV R6, R4.reuse").operands[1].reuse);
  EXPECT_EQ(parse("FADD R1, -R2, R3").operands[2].slot, 2);
  EXPECT_EQ(parse("S2R R0, SR_TID.X").operands[1].kind, OperandKind::kOther);
  EXPECT_EQ(parse("FMUL R0, R1, -1.4426950216293334961").operands[2].kind, OperandKind::kImmediate);
  EXPECT_EQ(parse("LOP3.LUT R0, R1, c[0x0][0x160], RZ, 0x96, !PT").operands[2].kind, OperandKind::kConstant);
  EXPECT_EQ(parse("HGMMA.64x64x16.F32 R24, gdesc[UR8], R24").operands[1].uniform_index, 8);
}

TEST(Assembler, ReuseMarkGoesBehindTheRegisterName) {
  Operand operand = parse("HADD2 R1, -R4.H0_H0, R3").operands[1];
  set_reuse(operand, true);
  EXPECT_EQ(operand.text, "-R4.reuse.H0_H0");
  set_reuse(operand, false);
  EXPECT_EQ(operand.text, "-R4.H0_H0");
}

TEST(Assembler, RegistersOfADescriptorAddress) {
  const Instruction load = parse("LDG.E R8, desc[UR4][R2.64+UR6]");
  std::vector<std::pair<int, int>> ranges;
  for (const RegisterRange& range : registers_of(load.operands[1])) ranges.emplace_back(range.first, range.count);
  EXPECT_THAT(ranges, ElementsAre(std::pair(4, 2), std::pair(2, 2), std::pair(6, 1)));
}

TEST(AssemblerDiagnostics, PointAtTheToken) {
  const Diagnostic opcode = error_of("[B------:R-:W-:-:S01] PRMTT.LUT R1, R2, R3");
  EXPECT_EQ(opcode.file, "test.wfs");
  EXPECT_EQ(opcode.line, 7);
  EXPECT_EQ(opcode.column, 23);
  EXPECT_THAT(opcode.message, HasSubstr("did you mean \"PRMT\"?"));

  const Diagnostic number = error_of("MOV R1, R255");
  EXPECT_EQ(number.column, 9);
  EXPECT_THAT(number.message, HasSubstr("no such register: R255"));

  EXPECT_EQ(error_of("[B------:R-:W-:-:S16] NOP").column, 19);
  EXPECT_EQ(error_of("[B1-----:R-:W-:-:S01] NOP").column, 3);
  EXPECT_EQ(error_of("[B------:R6:W-:-:S01] NOP").column, 11);
  EXPECT_THAT(error_of("@R1 NOP").message, HasSubstr("no predicate"));
  EXPECT_THAT(error_of("MOV R1, ").message, HasSubstr("expected an operand"));
  EXPECT_THAT(error_of("MOV R1, R2 ; junk").message, HasSubstr("unexpected text"));
  EXPECT_THAT(error_of("LDG.E R1, [R2.64").message, HasSubstr("unbalanced brackets"));
  EXPECT_THAT(error_of("FADD R1, R2, Rcx[").message, HasSubstr("unbalanced brackets"));
  EXPECT_THAT(error_of("HMMA.16816.F32 R252, R4, R8, R252").message, HasSubstr("runs past number 254"));
  EXPECT_THAT(error_of("NOP ; {byts=4}").message, HasSubstr("did you mean \"bytes\"?"));
  EXPECT_THAT(error_of("NOP ; {multicast=256}").message, HasSubstr("expected 0 to 255"));
  EXPECT_THAT(error_of("NOP ; {bytes=4").message, HasSubstr("expected }"));
  EXPECT_THAT(error_of("").message, HasSubstr("expected an instruction"));
}

}  // namespace warpfold::isa
