#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

// Opcodes beyond the control slice of CUDA's usual code, and opcodes that the tables lack.

namespace warpfold::sass {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kOneWarp = " grid { x: 1 } block { x: 32 }";

uint64_t issued(const std::string& lines, const std::string& launch) {
  const auto imported = import_lines(lines, launch);
  EXPECT_TRUE(imported) << message_of(imported);
  return imported ? traces::issued_instructions(imported->kernel) : 0;
}

TEST(Opcodes, AddressesOfBlackwellComeThroughTheUniformDatapath) {
  const auto imported = import_lines(
      "S2R R0, SR_TID.X ;\nLDCU.64 UR4, c[0x0][0x380] ;\nUIADD3.64 UR4, UPT, UPT, UR4, 0x100, URZ ;\nIMAD.WIDE.U32 R2, R0, 0x4, "
      "UR4 ;\n"
      "LDG.E R4, desc[UR6][R2.64] ;\nUMOV.64 UR8, UR4 ;\nMOV.64 R6, UR8 ;\nIADD.64 R6, R6, R6 ;\nEXIT ;\n",
      "architecture: \"sm_120\" array { name: \"x\" bytes: 4096 } parameter { array: \"x\" }" + kOneWarp);
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.arrays.at(0).touched, 128U);
}

TEST(Opcodes, PairsAreAddedWithTheirCarry) {
  const auto done = execute_lines("MOV R4, 0xffffffff ;\nMOV R5, 0x1 ;\nMOV R6, 0x1 ;\nMOV R7, 0x0 ;\nIADD R8, R4, -R6 ;\n", {});
  EXPECT_EQ(done->reg(8).lane[0], 0xfffffffeU);
  const auto branch = [](const std::string& relation) {
    return issued(
        "MOV R4, 0xffffffff ;\nMOV R5, 0x1 ;\nMOV R6, 0x1 ;\nMOV R7, 0x0 ;\nIADD.64 R8, R4, R6 ;\nIADD.64 R8, R8, -R6 ;\n"
        "ISETP." +
            relation + ".U64.AND P0, PT, R8, R4, PT ;\n@P0 EXIT ;\nNOP ;\nEXIT ;\n",
        "architecture: \"sm_100\"" + kOneWarp);
  };
  EXPECT_EQ(branch("EQ"), 8U);
  EXPECT_EQ(branch("NE"), 10U);
}

TEST(Opcodes, ReductionsSpanTheActiveLanes) {
  const auto done = execute_lines(
      "S2R R0, SR_LANEID ;\nREDUX.SUM UR4, R0 ;\nREDUX.MAX.S32 UR5, R0 ;\nREDUX UR6, R0 ;\nREDUX.MIN UR7, R0 ;\n"
      "MOV R4, UR4 ;\nMOV R5, UR5 ;\nMOV R6, UR6 ;\nMOV R7, UR7 ;\n",
      {});
  EXPECT_EQ(done->reg(4).lane[7], 31U * 32 / 2);
  EXPECT_EQ(done->reg(5).lane[7], 31U);
  EXPECT_EQ(done->reg(6).lane[7], 31U);
  EXPECT_EQ(done->reg(7).lane[7], 0U);
}

TEST(Opcodes, ShiftsLogicAndPredicates) {
  const auto done = execute_lines(
      "SHL R4, R0, 0x4 ;\nSHR.U32 R5, R1, 0x1f ;\nSHR.S32 R6, R1, 0x1f ;\nLOP.AND R7, R0, 0x6 ;\nLOP.PASS_B R8, RZ, R0 ;\n"
      "ISCADD R9, R0, R0, 0x2 ;\nISETP.EQ.AND P0, PT, R0, 0x5, PT ;\nPSETP.AND.OR P1, P2, P0, !PT, P0 ;\n",
      {5, 0x80000000});
  EXPECT_EQ(done->reg(4).lane[0], 80U);
  EXPECT_EQ(done->reg(5).lane[0], 1U);
  EXPECT_EQ(done->reg(6).lane[0], 0xffffffffU);
  EXPECT_EQ(done->reg(7).lane[0], 4U);
  EXPECT_EQ(done->reg(8).lane[0], 5U);
  EXPECT_EQ(done->reg(9).lane[0], 25U);
  EXPECT_EQ(done->predicate(1).lanes, kAllLanes);  // (P0 and false) or P0
  EXPECT_EQ(done->predicate(2).lanes, kAllLanes);
}

// The sum and the smaller of it and a bound; packed numbers are not followed.
TEST(Opcodes, SumsAreBounded) {
  const std::string launch = "architecture: \"sm_90\"" + kOneWarp;
  const std::string end = "ISETP.EQ.AND P0, PT, R2, 0x9, PT ;\n@P0 EXIT ;\nNOP ;\nEXIT ;\n";
  EXPECT_EQ(issued("MOV R0, 0x7 ;\nVIADDMNMX R2, R0, 0x5, RZ, !PT ;\nVIMNMX R2, R2, 0x9, PT ;\n" + end, launch), 5U);
  EXPECT_THAT(message_of(import_lines("MOV R0, 0x7 ;\nVIADDMNMX.U16x2 R2, R0, 0x5, RZ, PT ;\n" + end, launch)),
              HasSubstr("hangs on VIADDMNMX.U16x2"));
}

TEST(Opcodes, DivisionTakesItsUsualPath) {
  for (const std::string architecture : {"sm_75", "sm_86", "sm_90", "sm_120"}) {
    EXPECT_EQ(issued("LDG.E R4, [R2.64] ;\nFCHK P0, R4, R5 ;\n@P0 BRA `(.L_slow) ;\nEXIT ;\n.L_slow:\nNOP ;\nEXIT ;\n",
                     "architecture: \"" + architecture + "\" answer { line: 2 sectors: 4 }" + kOneWarp),
              4U)
        << architecture;
  }
}

TEST(Opcodes, TexturesAskForTheirSectors) {
  const std::string code = "MOV R2, RZ ;\nTEX.SCR.LL RZ, R5, R2, R7, 0x0, 0x58, 2D, 0x1 ;\nEXIT ;\n";
  EXPECT_THAT(
      message_of(import_lines(code, "architecture: \"sm_80\"" + kOneWarp)),
      StartsWith("kernel.sass:3:1: TEX.SCR.LL: where a texture or surface lies in memory only the driver knows. Say how many"));
  const auto imported = import_lines(code, "architecture: \"sm_80\" answer { line: 3 sectors: 12 }" + kOneWarp);
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(std::get<traces::Block>(imported->kernel.roles[0].body[0]).code[1].effect.bytes, 12U * 32);
}

// 128 x 256 of FP16: M / 16 in bits 24 to 28, N / 8 in bits 17 to 22.
TEST(Opcodes, ProductsOfTensorMemoryHaveTheirShape) {
  const std::string product = "UTCHMMA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR14], idesc[UR15], UPT ;\nEXIT ;\n";
  EXPECT_THAT(message_of(import_lines(product, "architecture: \"sm_100\"" + kOneWarp)),
              StartsWith("kernel.sass:2:1: UTCHMMA: the listing does not say how many columns of tensor memory"));
  const std::string launch = "architecture: \"sm_100\" tensor_memory_columns: 512" + kOneWarp;
  const auto imported = import_lines("UMOV UR15, 0x8400010 ;\n" + product, launch);
  ASSERT_TRUE(imported) << message_of(imported);
  const isa::Effect& effect = std::get<traces::Block>(imported->kernel.roles[0].body[0]).code[1].effect;
  EXPECT_EQ(effect.rows, 128U);
  EXPECT_EQ(effect.columns, 256U);
  EXPECT_THAT(message_of(import_lines(product, launch)),
              StartsWith("kernel.sass:2:1: UTCHMMA: its shape stands in the instruction"));
}

TEST(Opcodes, WhatIsNotFollowedIsNamedWithItsLine) {
  const std::string launch = "architecture: \"sm_100\" shared_memory_bytes: 1024" + kOneWarp;
  EXPECT_THAT(message_of(import_lines("STAS [R2], R4, [UR6] ;\nEXIT ;\n", launch)), HasSubstr("a peer's shared memory"));
  EXPECT_THAT(message_of(import_lines("UBLKCP.S.S [UR4], [UR6], UR8 ;\nEXIT ;\n", launch)), HasSubstr("of this form"));
  EXPECT_THAT(message_of(import_lines("UGETNEXTWORKID.BROADCAST [UR4], [UR6] ;\nEXIT ;\n", launch)), HasSubstr("hands out"));
  EXPECT_THAT(message_of(import_lines("USTGR [UR4], UR6 ;\nEXIT ;\n", launch)), HasSubstr("uniform datapath writes"));
}

// An opcode that the table lacks, or operands that are none, matter where a warp executes them.
TEST(Opcodes, UnknownOnesStopWhatReachesThem) {
  const std::string launch = "architecture: \"sm_80\" parameter { value: 1 }" + kOneWarp;
  const auto code = [](const std::string& relation) {
    return "ISETP." + relation + ".AND P0, PT, RZ, c[0x0][0x160], PT ;\n@P0 BRA `(.L_1) ;\nFRABJOUS R1, R2 ;\n.L_1:\nEXIT ;\n";
  };
  EXPECT_EQ(issued(code("LT"), launch), 3U);
  EXPECT_THAT(message_of(import_lines(code("GT"), launch)), StartsWith("kernel.sass:4:1: unknown opcode \"FRABJOUS\" of sm_80"));
  EXPECT_THAT(message_of(import_lines("HMMA.16816.F32.E4M3 R4, R8, R12, R4 ;\nEXIT ;\n", launch)),
              StartsWith("kernel.sass:2:1: unknown modifiers of \"HMMA.16816.F32.E4M3\"; sm_80 has HMMA"));
  EXPECT_THAT(message_of(import_lines("@P0 MUFU.FOO R1, R2 ;\nEXIT ;\n", launch)),
              StartsWith("kernel.sass:2:5: unknown modifiers of \"MUFU.FOO\""));
  EXPECT_THAT(message_of(import_lines("MOV R1, (R2 ;\nEXIT ;\n", launch)), HasSubstr("unbalanced brackets"));
}

TEST(Opcodes, UnknownOnesOfOtherFunctionsDoNotMatter) {
  const std::string other = ".text.other:\nFRABJOUS R1, R2 ;\nEXIT ;\n";
  EXPECT_EQ(issued("NOP ;\nEXIT ;\n" + other, "architecture: \"sm_80\" function: \"kernel\"" + kOneWarp), 2U);
}

TEST(Opcodes, CallsOutOfTheListingStopWhatReachesThem) {
  const std::string launch = "architecture: \"sm_80\" parameter { value: 1 }" + kOneWarp;
  const auto code = [](const std::string& relation) {
    return "MOV R20, 32@lo((kernel + .L_1@srel)) ;\nISETP." + relation +
           ".AND P0, PT, RZ, c[0x0][0x160], PT ;\n@P0 CALL.ABS.NOINC `(vprintf) ;\n.L_1:\nEXIT ;\n";
  };
  EXPECT_EQ(issued(code("GT"), launch), 4U);
  EXPECT_THAT(message_of(import_lines(code("LT"), launch)),
              StartsWith("kernel.sass:4:1: CALL.ABS.NOINC: the listing does not have the code of vprintf"));
}

}  // namespace
}  // namespace warpfold::sass
