#include "isa/control_code_assigner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "isa/assembler.h"
#include "recorded_loops.h"

namespace warpfold::isa {

namespace {

using testing::ElementsAre;

std::string describe(const RecordedLoop& loop, const BrokenDependence& broken) {
  return loop.name + ": " + format_instruction(loop.code[broken.producer]) + "  ->  " +
         format_instruction(loop.code[broken.consumer]) + "  needs " + std::to_string(broken.needed) + ", has " +
         std::to_string(broken.given);
}

std::vector<Instruction> assemble(const std::vector<std::string>& lines, const std::string& architecture = "sm_90") {
  std::vector<Instruction> code;
  for (const std::string& line : lines)
    code.push_back(parse_instruction(*Architecture::find(architecture).value(), line, "test", 1).value());
  return code;
}

std::vector<Instruction> assigned(const std::vector<std::string>& lines, bool loop) {
  std::vector<Instruction> code = assemble(lines);
  assign_control_codes(*Architecture::find("sm_90").value(), code, loop);
  return code;
}

std::vector<BrokenDependence> check(const std::vector<std::string>& lines, bool loop) {
  return check_control_codes(*Architecture::find("sm_90").value(), assemble(lines), loop);
}

// The stall counts of assigned code, one after another.
std::vector<int> stalls(const std::vector<std::string>& lines, bool loop = false) {
  std::vector<int> result;
  for (const Instruction& instruction : assigned(lines, loop)) result.push_back(instruction.control.stall);
  return result;
}

}  // namespace

TEST(ControlCodes, DependentIssueDistances) {
  EXPECT_THAT(stalls({"IADD3 R1, R2, R3, RZ", "IADD3 R4, R1, R3, RZ", "EXIT"}), ElementsAre(4, 1, 5));
  EXPECT_THAT(stalls({"FFMA R1, R2, R3, R4", "FADD R5, R1, R3", "EXIT"}), ElementsAre(4, 1, 5));
  EXPECT_THAT(stalls({"LOP3.LUT R1, R2, R3, RZ, 0x96, !PT", "IMAD.WIDE.U32 R4, R1, R3, RZ", "EXIT"}), ElementsAre(5, 1, 5));
  // Low word after 3, high word after 5.
  EXPECT_THAT(stalls({"IMAD.WIDE.U32 R4, R1, R3, RZ", "LOP3.LUT R6, R4, R3, RZ, 0x96, !PT", "EXIT"}), ElementsAre(3, 1, 5));
  EXPECT_THAT(stalls({"IMAD.WIDE.U32 R4, R1, R3, RZ", "LOP3.LUT R6, R5, R3, RZ, 0x96, !PT", "EXIT"}), ElementsAre(5, 1, 5));
  EXPECT_THAT(stalls({"ISETP.GE.AND P0, PT, R1, R2, PT", "@P0 IADD3 R3, R4, R5, RZ", "EXIT"}), ElementsAre(13, 1, 5));
  EXPECT_THAT(stalls({"ISETP.GE.AND P0, PT, R1, R2, PT", "@P0 BRA `(.L)", "EXIT"}), ElementsAre(13, 5, 5));
}

// The least distances that ptxas keeps between a predicate and the guard of a branch: CUDA 13.0, sm_70: CUDA 12.4.
TEST(ControlCodes, GuardsOfBranchesWaitAsInCompiledCode) {
  struct Row {
    const char* architecture;
    const char* writer;
    int cycles;
  };
  const char* integer = "ISETP.GE.AND P0, PT, R1, R2, PT";
  const char* logic = "PLOP3.LUT P0, PT, P1, P2, PT, 0x80, 0x0";
  const char* half = "HSETP2.GT.AND P0, PT, R1.H0_H0, R2.H0_H0, PT";
  const char* fp64 = "DSETP.GEU.AND P0, PT, R2, R4, PT";
  for (const Row& row : std::vector<Row>{{"sm_70", integer, 12},
                                         {"sm_70", fp64, 15},
                                         {"sm_75", integer, 12},
                                         {"sm_75", logic, 12},
                                         {"sm_75", half, 14},
                                         {"sm_80", integer, 13},
                                         {"sm_80", logic, 13},
                                         {"sm_80", half, 13},
                                         {"sm_80", fp64, 14},
                                         {"sm_86", integer, 13},
                                         {"sm_89", integer, 13},
                                         {"sm_90", integer, 13},
                                         {"sm_90", fp64, 14},
                                         {"sm_100", integer, 13},
                                         {"sm_103", integer, 13},
                                         {"sm_120", integer, 13}}) {
    for (const char* reader : {"@!P0 BRA `(.L)", "@P0 EXIT", "@P0 IADD3 R6, R7, R8, RZ"}) {
      std::vector<Instruction> code = assemble({row.writer, reader, "EXIT"}, row.architecture);
      assign_control_codes(*Architecture::find(row.architecture).value(), code, false);
      EXPECT_EQ(code[0].control.stall, row.cycles) << row.architecture << ": " << row.writer << " -> " << reader;
    }
  }
}

TEST(ControlCodes, PortsKeepIndependentInstructionsApart) {
  EXPECT_THAT(stalls({"IADD3 R1, R2, R3, RZ", "IADD3 R4, R5, R6, RZ", "EXIT"}), ElementsAre(2, 1, 5));
  EXPECT_THAT(stalls({"IADD3 R1, R2, R3, RZ", "IMAD R4, R5, R6, RZ", "IADD3 R7, R8, R9, RZ", "EXIT"}), ElementsAre(1, 1, 1, 5));
  EXPECT_THAT(stalls({"IMAD.WIDE.U32 R4, R1, R3, RZ", "FFMA R6, R7, R8, R9", "FFMA R10, R7, R8, R9", "EXIT"}),
              ElementsAre(4, 1, 1, 5));
}

TEST(ControlCodes, AGapBeyondFifteenIsSpreadOverTheInstructionsBefore) {
  EXPECT_THAT(stalls({"HMMA.16816.F32 R4, R8, R12, RZ", "IADD3 R20, R21, R22, RZ", "FADD R23, R4, R24", "EXIT"}),
              ElementsAre(9, 15, 1, 5));
}

TEST(ControlCodes, ALoadHoldsACounterUntilItsFirstConsumer) {
  const auto code = assigned({"LDS R1, [R2]", "IADD3 R3, R1, R4, RZ", "IADD3 R5, R1, R6, RZ", "EXIT"}, false);
  EXPECT_LT(code[0].control.write_counter, kDependenceCounters);
  EXPECT_EQ(code[0].control.stall, 2);  // the increment becomes visible a cycle later
  EXPECT_EQ(code[1].control.wait_mask, 1 << code[0].control.write_counter);
  EXPECT_EQ(code[2].control.wait_mask, 0);
}

TEST(ControlCodes, AStoresSourceIsReadBeforeItIsOverwritten) {
  const auto code = assigned({"STG.E [R2.64], R4", "IADD3 R4, R5, R6, RZ", "EXIT"}, false);
  EXPECT_LT(code[0].control.read_counter, kDependenceCounters);
  EXPECT_EQ(code[1].control.wait_mask, 1 << code[0].control.read_counter);
}

TEST(ControlCodes, ResultsForTheCodeBehindAreWaitedForAtTheEnd) {
  const auto code = assigned({"S2R R0, SR_TID.X", "IADD3 R3, R1, R4, RZ", "NOP"}, false);
  EXPECT_EQ(code[2].control.wait_mask, 1 << code[0].control.write_counter);
}

TEST(ControlCodes, LoadsOfOneConsumerShareACounterAndOthersDoNot) {
  const auto code = assigned(
      {"LDG.E R1, [R10.64]", "LDG.E R2, [R12.64]", "LDG.E R3, [R14.64]", "IADD3 R4, R1, R2, RZ", "IADD3 R5, R3, R4, RZ", "EXIT"},
      false);
  EXPECT_EQ(code[0].control.write_counter, code[1].control.write_counter);
  EXPECT_NE(code[0].control.write_counter, code[2].control.write_counter);
}

TEST(ControlCodes, MoreLoadsThanCountersShare) {
  std::vector<std::string> lines;
  for (int i = 0; i < 8; ++i) lines.push_back("LDG.E R" + std::to_string(i) + ", [R20.64]");
  for (int i = 0; i < 8; ++i) lines.push_back("FADD R" + std::to_string(40 + i) + ", R" + std::to_string(i) + ", R50");
  lines.push_back("EXIT");
  const auto code = assigned(lines, false);
  EXPECT_TRUE(check_control_codes(*Architecture::find("sm_90").value(), code, false).empty());
}

TEST(ControlCodes, ALoopWaitsForItsPreviousPass) {
  const std::vector<std::string> lines{"IADD3 R1, R2, R3, RZ", "LDS R2, [R4]", "BRA `(.L)"};
  const auto code = assigned(lines, true);
  EXPECT_EQ(code[0].control.wait_mask, 1 << code[1].control.write_counter);
  EXPECT_TRUE(check_control_codes(*Architecture::find("sm_90").value(), code, true).empty());
}

TEST(ControlCodes, CopyGroupsKeepTheCounterThatDepbarNames) {
  const auto code = assigned(
      {"LDGSTS.E.128 [R1], [R2.64]", "LDGDEPBAR", "LDS R5, [R6]", "DEPBAR.LE SB0, 0x0", "IADD3 R7, R5, R8, RZ", "EXIT"}, false);
  EXPECT_EQ(code[1].control.write_counter, 0);
  EXPECT_NE(code[2].control.write_counter, 0);
}

TEST(ControlCodes, CheckFindsWhatIsMissing) {
  const auto short_stall = check({"[B------:R-:W-:-:S03] IADD3 R1, R2, R3, RZ", "IADD3 R4, R1, R3, RZ"}, false);
  ASSERT_EQ(short_stall.size(), 1U);
  EXPECT_EQ(short_stall[0].needed, 4);
  EXPECT_EQ(short_stall[0].given, 3);
  EXPECT_EQ(check({"[B------:R-:W0:-:S02] LDS R1, [R2]", "IADD3 R3, R1, R4, RZ"}, false).size(), 1U);  // no instruction waits
  EXPECT_EQ(check({"[B------:R-:W0:-:S01] LDS R1, [R2]", "[B0-----:R-:W-:-:S01] IADD3 R3, R1, R4, RZ"}, false).size(),
            1U);  // too soon to see
  EXPECT_EQ(check({"[B------:R-:W0:-:S02] LDS R1, [R2]", "[B0-----:R-:W-:-:S01] IADD3 R3, R1, R4, RZ"}, false).size(), 0U);
  EXPECT_EQ(check({"STS [R2], R4", "IADD3 R4, R5, R6, RZ"}, false).size(), 1U);  // write after read
  EXPECT_EQ(check({"[B------:R-:W-:-:S01] IADD3 R1, R1, R3, RZ", "[B------:R-:W-:-:S02] NOP"}, true).size(),
            1U);  // RAW around the loop
}

TEST(ControlCodes, OfLoadsThatReturnInOrderTheLastOneSpeaksForAll) {
  const std::vector<std::string> lines{"LDSM.16.M88.4 R4, [R1]", "[B------:R-:W0:-:S02] LDSM.16.M88.4 R8, [R1+0x400]",
                                       "[B0-----:R-:W-:-:S01] HMMA.16816.F32 R12, R4, R8, RZ"};
  EXPECT_TRUE(check(lines, false).empty());
  const std::vector<std::string> global{"LDG.E R4, [R10.64]", "[B------:R-:W0:-:S02] LDG.E R8, [R10.64]",
                                        "[B0-----:R-:W-:-:S01] FADD R12, R4, R8"};
  EXPECT_EQ(check(global, false).size(), 1U);  // global loads come back in any order
}

TEST(ControlCodes, ReuseWhereTheNextReaderOfBankAndSlotWantsTheSameRegister) {
  EXPECT_TRUE(assigned({"FFMA R1, R2, R3, R4", "FFMA R5, R2, R7, R8", "EXIT"}, false)[0].operands[1].reuse);
  EXPECT_FALSE(assigned({"FFMA R1, R2, R3, R4", "FFMA R5, R7, R2, R8", "EXIT"}, false)[0].operands[1].reuse);  // another slot
  EXPECT_FALSE(assigned({"FFMA R1, R2, R3, R4", "FFMA R5, R6, R7, R8", "FFMA R9, R2, R7, R8", "EXIT"}, false)[0].operands[1].reuse);
  EXPECT_TRUE(assigned({"FFMA R1, R2, R3, R4", "FFMA R5, R7, R9, R8", "FFMA R9, R2, R7, R8", "EXIT"}, false)[0].operands[1].reuse);
  EXPECT_FALSE(assigned({"FFMA R2, R2, R3, R4", "FFMA R5, R2, R7, R8", "EXIT"}, false)[0].operands[1].reuse);  // overwritten
}

TEST(ControlCodes, LongStallsYield) {
  const auto code = assigned({"FFMA R1, R2, R3, R4", "FADD R5, R1, R3", "EXIT"}, false);
  EXPECT_TRUE(code[0].control.yield);
  EXPECT_FALSE(code[1].control.yield);
}

TEST(ControlCodes, TheCompilersOwnCodesHold) {
  for (const RecordedLoop& loop : recorded_loops()) {
    for (const BrokenDependence& broken : check_control_codes(*loop.architecture, loop.code, true))
      ADD_FAILURE() << describe(loop, broken);
  }
}

TEST(ControlCodes, AssignedCodesHoldAndAreAsFastAsTheCompilers) {
  for (const RecordedLoop& loop : recorded_loops()) {
    RecordedLoop own = loop;
    assign_control_codes(*own.architecture, own.code, true);
    for (const BrokenDependence& broken : check_control_codes(*own.architecture, own.code, true))
      ADD_FAILURE() << describe(own, broken);
    const int compiled = scheduled_cycles(loop.code);
    const int assigned = scheduled_cycles(own.code);
    const double ratio = static_cast<double>(assigned) / compiled;
    std::printf("%-40s %5d %5d %.3f\n", loop.name.c_str(), compiled, assigned, ratio);
    EXPECT_NEAR(ratio, 1.0, 0.05) << loop.name;
  }
}

}  // namespace warpfold::isa
