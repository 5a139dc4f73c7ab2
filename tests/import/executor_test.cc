#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>

#include "support.h"

// Opcodes against their definitions: PTX ISA for their semantics, CUDA Binary Utilities for their names.

namespace warpfold::sass {
namespace {

uint32_t result_of(const std::string& line, const std::vector<uint32_t>& registers, size_t reg = 10) {
  return execute_lines(line + " ;\n", registers)->reg(reg).lane[5];
}

RC_GTEST_PROP(Executor, AddsWithCarries, (uint32_t a, uint32_t b, uint32_t c, uint32_t d)) {
  const auto run = execute_lines("IADD3 R10, P0, R0, R1, RZ ;\nIADD3.X R11, R2, R3, RZ, P0, !PT ;\n", {a, b, c, d});
  const uint64_t sum = (uint64_t{c} << 32 | a) + (uint64_t{d} << 32 | b);
  RC_ASSERT(run->reg(10).lane[0] == static_cast<uint32_t>(sum));
  RC_ASSERT(run->reg(11).lane[0] == static_cast<uint32_t>(sum >> 32));
}

RC_GTEST_PROP(Executor, SubtractsWithBorrows, (uint32_t a, uint32_t b, uint32_t c, uint32_t d)) {
  const auto run = execute_lines("IADD3 R10, P0, R0, -R1, RZ ;\nIADD3.X R11, R2, ~R3, RZ, P0, !PT ;\n", {a, b, c, d});
  const uint64_t difference = (uint64_t{c} << 32 | a) - (uint64_t{d} << 32 | b);
  RC_ASSERT(run->reg(10).lane[0] == static_cast<uint32_t>(difference));
  RC_ASSERT(run->reg(11).lane[0] == static_cast<uint32_t>(difference >> 32));
}

// A borrow goes from the lower word to the upper one, unless the lower one is 0.
RC_GTEST_PROP(Executor, NegatesPairs, (uint32_t a, uint32_t b, uint64_t c)) {
  for (const uint64_t addend : {c, c >> 32 << 32}) {
    const std::vector<uint32_t> in{a, b, static_cast<uint32_t>(addend), static_cast<uint32_t>(addend >> 32)};
    const auto run = execute_lines("IMAD.WIDE R10, R0, R1, -R2 ;\n", in);
    const uint64_t expected = static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) - addend;
    RC_ASSERT((uint64_t{run->reg(11).lane[0]} << 32 | run->reg(10).lane[0]) == expected);
  }
}

RC_GTEST_PROP(Executor, MultipliesWide, (uint32_t a, uint32_t b, uint64_t c)) {
  const std::vector<uint32_t> in{a, b, static_cast<uint32_t>(c), static_cast<uint32_t>(c >> 32)};
  const auto run =
      execute_lines("IMAD.WIDE.U32 R10, R0, R1, R2 ;\nIMAD.WIDE R12, R0, R1, R2 ;\nIMAD.HI.U32 R14, R0, R1, R2 ;\n", in);
  const uint64_t product = uint64_t{a} * b + c;
  const uint64_t with_sign = static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)} * static_cast<int32_t>(b)) + c;
  RC_ASSERT((uint64_t{run->reg(11).lane[0]} << 32 | run->reg(10).lane[0]) == product);
  RC_ASSERT((uint64_t{run->reg(13).lane[0]} << 32 | run->reg(12).lane[0]) == with_sign);
  RC_ASSERT(run->reg(14).lane[0] == static_cast<uint32_t>(product >> 32));
}

RC_GTEST_PROP(Executor, ShiftsFunnels, (uint32_t low, uint32_t high)) {
  const uint32_t n = *rc::gen::inRange(0, 32);
  const uint64_t both = uint64_t{high} << 32 | low;
  const std::string count = std::to_string(n);
  RC_ASSERT(result_of("SHF.L.U32 R10, R0, " + count + ", RZ", {low}) == low << n);
  RC_ASSERT(result_of("SHF.R.U32.HI R10, RZ, " + count + ", R0", {low}) == low >> n);
  RC_ASSERT(result_of("SHF.R.S32.HI R10, RZ, " + count + ", R0", {low}) == static_cast<uint32_t>(static_cast<int32_t>(low) >> n));
  RC_ASSERT(result_of("SHF.R.U64 R10, R0, " + count + ", R1", {low, high}) == static_cast<uint32_t>(both >> n));
  RC_ASSERT(result_of("SHF.L.U64.HI R10, R0, " + count + ", R1", {low, high}) == static_cast<uint32_t>((both << n) >> 32));
  RC_ASSERT(result_of("SHF.L.W.U32.HI R10, R0, " + count + ", R0", {low}) == std::rotl(low, static_cast<int>(n)));
}

RC_GTEST_PROP(Executor, LooksUpLogic, (uint32_t a, uint32_t b, uint32_t c)) {
  RC_ASSERT(result_of("LOP3.LUT R10, R0, R1, R2, 0x96, !PT", {a, b, c}) == (a ^ b ^ c));
  RC_ASSERT(result_of("LOP3.LUT R10, R0, R1, R2, 0xf8, !PT", {a, b, c}) == (a | (b & c)));
  RC_ASSERT(result_of("LOP3.LUT R10, R0, R1, RZ, 0x3c, !PT", {a, b}) == (a ^ b));
  RC_ASSERT(result_of("LOP3.LUT R10, R0, R1, RZ, 0xc0, !PT", {a, b}) == (a & b));
}

RC_GTEST_PROP(Executor, ScalesAddresses, (uint32_t a, uint32_t b, uint32_t c)) {
  const auto run = execute_lines("LEA R10, P0, R0, R1, 0x4 ;\nLEA.HI.X R11, R0, R2, RZ, 0x4, P0 ;\n", {a, b, c});
  const uint64_t sum = (uint64_t{a} << 4) + (uint64_t{c} << 32 | b);
  RC_ASSERT(run->reg(10).lane[0] == static_cast<uint32_t>(sum));
  RC_ASSERT(run->reg(11).lane[0] == static_cast<uint32_t>(sum >> 32));
}

// Unsigned division as compilers have it for a divisor that they do not know.
RC_GTEST_PROP(Executor, DividesByTheReciprocal, (uint32_t a)) {
  const uint32_t b = *rc::gen::inRange<uint32_t>(1, 1 << 20);
  const auto run = execute_lines(
      "I2F.U32.RP R3, R1 ;\nMUFU.RCP R3, R3 ;\nIADD3 R4, R3, 0xffffffe, RZ ;\nF2I.FTZ.U32.TRUNC.NTZ R5, R4 ;\nMOV R4, RZ ;\n"
      "IADD3 R6, RZ, -R5, RZ ;\nIMAD R7, R6, R1, RZ ;\nIMAD.HI.U32 R5, R5, R7, R4 ;\nIMAD.HI.U32 R8, R5, R0, RZ ;\n"
      "IADD3 R6, -R8, RZ, RZ ;\nIMAD R9, R1, R6, R0 ;\nISETP.GE.U32.AND P0, PT, R9, R1, PT ;\nSEL R10, R1, RZ, P0 ;\n"
      "IADD3 R9, R9, -R10, RZ ;\nSEL R11, 0x1, RZ, P0 ;\nIADD3 R8, R8, R11, RZ ;\nISETP.GE.U32.AND P0, PT, R9, R1, PT ;\n"
      "SEL R11, 0x1, RZ, P0 ;\nIADD3 R8, R8, R11, RZ ;\n",
      {a, b, 0, 0, 0, 0});
  RC_ASSERT(run->reg(8).unknown == 0U);
  RC_ASSERT(run->reg(8).lane[0] == a / b);
}

TEST(Executor, ComparesHalvesOf64Bits) {
  const auto less = [](uint64_t a, uint64_t b) {
    const std::vector<uint32_t> in{static_cast<uint32_t>(a), static_cast<uint32_t>(b), static_cast<uint32_t>(a >> 32),
                                   static_cast<uint32_t>(b >> 32)};
    const auto run = execute_lines("ISETP.LT.U32.AND P0, PT, R0, R1, PT ;\nISETP.LT.AND.EX P1, PT, R2, R3, PT, P0 ;\n", in);
    return run->predicate(1).lanes == kAllLanes;
  };
  EXPECT_TRUE(less(5, uint64_t{1} << 32));
  EXPECT_TRUE(less(5, 6));
  EXPECT_FALSE(less(6, 6));
  EXPECT_TRUE(less(~uint64_t{0}, 0));
  EXPECT_FALSE(less(uint64_t{1} << 32, 7));
}

TEST(Executor, ExchangesLanesAndVotes) {
  const auto run = execute_lines(
      "S2R R3, SR_LANEID ;\nSHFL.BFLY PT, R10, R3, 0x10, 0x1f ;\nSHFL.IDX PT, R11, R3, 0x7, 0x1f ;\nSHFL.UP P2, R12, R3, 0x1, 0x0 "
      ";\n"
      "ISETP.LT.AND P0, PT, R3, 0x4, PT ;\nVOTE.ANY R13, PT, P0 ;\n",
      {0, 0, 0, 0});
  EXPECT_EQ(run->reg(10).lane[3], 19U);
  EXPECT_EQ(run->reg(11).lane[30], 7U);
  EXPECT_EQ(run->reg(12).lane[4], 3U);
  EXPECT_EQ(run->reg(12).lane[0], 0U);
  EXPECT_EQ(run->predicate(2).lanes, kAllLanes - 1);
  EXPECT_EQ(run->reg(13).lane[9], 0xfU);
}

TEST(Executor, KeepsPredicatesInRegisters) {
  const auto run = execute_lines(
      "S2R R3, SR_LANEID ;\nISETP.LT.AND P1, PT, R3, 0x4, PT ;\nISETP.LT.AND P6, PT, R3, 0x9, PT ;\n"
      "P2R R10, PR, RZ, 0x42 ;\nP2R R11, PR, R0, 0x2 ;\nP2R.B1 R12, PR, RZ, 0x40 ;\nISETP.NE.AND P2, PT, R10, RZ, PT ;\n",
      {0xff, 0, 0, 0});
  EXPECT_EQ(run->reg(10).lane[3], 0x42U);
  EXPECT_EQ(run->reg(10).lane[8], 0x40U);
  EXPECT_EQ(run->reg(11).lane[3], 0xffU);
  EXPECT_EQ(run->reg(11).lane[4], 0xfdU);
  EXPECT_EQ(run->reg(12).lane[8], 0x4000U);
  EXPECT_EQ(run->reg(12).unknown, 0U);
  EXPECT_EQ(run->predicate(2).lanes, 0x1ffU);
}

// bool, short and char in one word, then a double.
TEST(Executor, ReadsPartsOfConstants) {
  const auto imported = [](const std::string& condition) {
    return import_lines(
        "LDC.U8 R0, c[0x0][0x160] ;\nULDC.S16 UR4, c[0x0][0x162] ;\nLDC.S8 R2, c[0x0][0x164] ;\nMOV R4, 0x8 ;\n"
        "LDC.64 R4, c[0x0][R4+0x160] ;\nMOV R1, UR4 ;\n" +
            condition + "@P0 EXIT ;\nNOP ;\nEXIT ;\n",
        "architecture: \"sm_80\" grid { x: 1 } block { x: 32 } parameter { value: 200 bytes: 1 }\n"
        "parameter { value: -3 bytes: 2 } parameter { value: -2 bytes: 1 } parameter { real: 0.5 bytes: 8 }");
  };
  const auto holds = [&](const std::string& compared) {
    const auto kernel = imported("ISETP.NE.AND P0, PT, " + compared + ", PT ;\n");
    return kernel ? counts_of(kernel->kernel)["NOP"] == 1 : (ADD_FAILURE() << message_of(kernel), false);
  };
  EXPECT_TRUE(holds("R0, 0xc8"));
  EXPECT_TRUE(holds("R1, -0x3"));
  EXPECT_TRUE(holds("R2, -0x2"));
  EXPECT_TRUE(holds("R4, RZ"));
  EXPECT_TRUE(holds("R5, 0x3fe00000"));
}

TEST(Executor, BytesBitsAndConstants) {
  EXPECT_EQ(result_of("PRMT R10, R0, 0x5410, R1", {0x44332211, 0x88776655}), 0x66552211U);
  EXPECT_EQ(result_of("PRMT R10, R0, 0xba98, R1", {0x80ff0001, 0}), 0xffff0000U);
  EXPECT_EQ(result_of("FLO.U32 R10, R0", {0x00010000}), 16U);
  EXPECT_EQ(result_of("POPC R10, R0", {0xf0f0}), 8U);
  EXPECT_EQ(result_of("SGXT R10, R0, 0x8", {0x180}), 0xffffff80U);
  EXPECT_EQ(result_of("BMSK R10, R0, R1", {4, 8}), 0xff0U);
  EXPECT_EQ(result_of("IABS R10, R0", {static_cast<uint32_t>(-7)}), 7U);
  EXPECT_EQ(result_of("IMNMX R10, R0, R1, PT", {static_cast<uint32_t>(-7), 3}), static_cast<uint32_t>(-7));
  EXPECT_EQ(result_of("IMNMX.U32 R10, R0, R1, !PT", {static_cast<uint32_t>(-7), 3}), static_cast<uint32_t>(-7));
  EXPECT_EQ(result_of("HFMA2.MMA R10, -RZ, RZ, 0, 5.9604644775390625e-08", {}), 1U);
}

// Lanes that an instruction does not write lose the linear form that they shared with the written lanes; all other lanes keep it.
TEST(Executor, WrittenLanesStayLinear) {
  const auto run = execute_lines(
      "S2R R3, SR_LANEID ;\nS2R R4, SR_CTAID.X ;\nISETP.LT.AND P0, PT, R3, 0x10, PT ;\nIMAD R5, R4, 0x8, RZ ;\n"
      "@P0 IMAD R5, R4, 0x4, R3 ;\n@P0 IADD3 R6, R5, 0x1, RZ ;\n",
      {0, 0, 0, 0, 0, 0, 0}, 0);
  EXPECT_EQ(run->reg(5).slope[0], 4U);
  EXPECT_EQ(run->reg(5).varying[0], 0xffff0000U);
  EXPECT_EQ(run->reg(6).slope[0], 4U);
  EXPECT_EQ(run->reg(6).varying[0] & 0xffffU, 0U);
  EXPECT_EQ(run->reg(6).lane[3], 4U);
}

// Returns the lanes' values in CTA `cta`, from the linear function that the executor found in CTA 0.
RC_GTEST_PROP(Executor, LinearValuesHoldInOtherCtas, ()) {
  static const std::vector<std::string> kSteps{"IADD3 R{d}, R{a}, R{b}, {i}",
                                               "IMAD R{d}, R{a}, {i}, R{b}",
                                               "SHF.L.U32 R{d}, R{a}, 0x3, RZ",
                                               "SHF.R.U32.HI R{d}, RZ, 0x2, R{a}",
                                               "LOP3.LUT R{d}, R{a}, {i}, RZ, 0xc0, !PT",
                                               "LOP3.LUT R{d}, R{a}, R{b}, RZ, 0xfc, !PT",
                                               "IMAD.WIDE R{d}, R{a}, {i}, R{b}",
                                               "LEA R{d}, R{a}, R{b}, 0x4",
                                               "IMNMX R{d}, R{a}, R{b}, PT",
                                               "IADD3 R{d}, P0, R{a}, R{b}, RZ",
                                               "IADD3.X R{d}, R{a}, R{b}, RZ, P0, !PT",
                                               "SEL R{d}, R{a}, R{b}, P0",
                                               "ISETP.GT.AND P0, PT, R{a}, R{b}, PT",
                                               "IABS R{d}, R{a}",
                                               "ISETP.LT.AND P1, PT, R1, {i}, PT",
                                               "@P1 IADD3 R{d}, R{a}, R{b}, {i}",
                                               "@!P1 MOV R{d}, R{a}",
                                               "SHFL.IDX PT, R{d}, R{a}, 0x3, 0x1f",
                                               "SHF.R.S32.HI R{d}, RZ, 0x1f, R{a}"};
  std::string text =
      "S2R R0, SR_CTAID.X ;\nS2R R1, SR_LANEID ;\nISETP.GT.AND P0, PT, R0, 0x3, PT ;\n"
      "ISETP.LT.AND P1, PT, R1, 0x10, PT ;\n";
  const int length = *rc::gen::inRange(1, 12);
  for (int i = 0; i < length; ++i) {
    std::string line = *rc::gen::elementOf(kSteps);
    const auto fill = [&line](const std::string& key, const std::string& value) {
      for (size_t at = line.find(key); at != std::string::npos; at = line.find(key)) line.replace(at, key.size(), value);
    };
    fill("{d}", std::to_string(*rc::gen::inRange(1, 6) * 2));
    fill("{a}", std::to_string(*rc::gen::inRange(0, 12)));
    fill("{b}", std::to_string(*rc::gen::inRange(0, 12)));
    fill("{i}", std::to_string(*rc::gen::element(1, 3, 16, 128, 4096, 1000003)));
    text += line + " ;\n";
  }
  const std::vector<uint32_t> registers(16, *rc::gen::element(0U, 5U, 64U, 0xfffffff0U));
  const auto first = execute_lines(text, registers, 0, 1000);
  const uint32_t cta = *rc::gen::inRange<uint32_t>(0, 1000);
  const auto other = execute_lines(text, registers, cta, 1000);
  for (size_t r = 0; r < 14; ++r) {
    const Word& word = first->reg(r);
    if (word.limit[0] <= cta) continue;
    for (int lane = 0; lane < kLanes; ++lane) {
      if ((word.varying[0] >> lane & 1) == 0) RC_ASSERT(word.lane[lane] + word.slope[0] * cta == other->reg(r).lane[lane]);
    }
  }
  const Bits& bits = first->predicate(0);
  if (bits.limit[0] > cta) RC_ASSERT(((bits.lanes ^ other->predicate(0).lanes) & ~bits.varying[0]) == 0);
}

}  // namespace
}  // namespace warpfold::sass
