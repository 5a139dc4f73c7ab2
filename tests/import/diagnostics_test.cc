#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/read_file.h"
#include "support.h"

// Faults of a listing or a launch description: one message with file, line and advice.

namespace warpfold::sass {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

const std::string kLaunch =
    "architecture: \"sm_80\" grid { x: 4 } block { x: 64 }\n"
    "array { name: \"x\" bytes: 4096 }\nparameter { array: \"x\" }\nparameter { value: 5 }\n";

const std::string kLoads =
    "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nISETP.GT.AND P0, PT, R4, 0x3, PT ;\n"
    "@P0 BRA `(.L_1) ;\nMOV R5, RZ ;\n.L_1:\nEXIT ;\n";

TEST(Diagnostics, BranchOnLoadedDataAsksForAnAnswer) {
  const std::string message = message_of(import_lines(kLoads, kLaunch));
  EXPECT_THAT(message, StartsWith("kernel.sass:6:1: BRA: whether it is taken hangs on LDG.E in line 4"));
  EXPECT_THAT(message, HasSubstr("answer { line: 4 value: N }"));
  EXPECT_THAT(message, HasSubstr("answer { line: 6 taken: N of: M }"));
}

// A branch, a gather behind it, and a loop, each hanging on a load.
const std::string kAsks =
    "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nISETP.GT.AND P0, PT, R4, 0x3, PT ;\n"
    "@P0 BRA `(.L_1) ;\nIMAD.WIDE R6, R4, 0x4, R2 ;\nLDG.E R5, [R6.64] ;\n.L_1:\nMOV R8, RZ ;\n.L_2:\nLDG.E R9, [R2.64] ;\n"
    "IADD3 R8, R8, 0x1, RZ ;\nISETP.LT.AND P1, PT, R8, R9, PT ;\n@P1 BRA `(.L_2) ;\nEXIT ;\n";

TEST(Diagnostics, AllQuestionsAreAskedAtOnce) {
  std::vector<std::string> questions;
  const std::string message = message_of(import_lines(kAsks, kLaunch, {.questions = &questions}));
  EXPECT_THAT(message, StartsWith("kernel.sass:6:1: BRA: whether it is taken hangs on LDG.E in line 4"));
  EXPECT_THAT(message, testing::EndsWith("; the first of 3 questions, which warpfold import lists"));
  EXPECT_THAT(
      questions,
      testing::ElementsAre(
          "answer { line: 6 taken: N of: M }  # BRA, hangs on LDG.E in line 4; skips 2 instructions in lines 7 to 8",
          "answer { line: 8 sectors: N }  # LDG.E, hangs on LDG.E in line 4; sectors of 32 bytes that a warp touches",
          "answer { line: 15 taken: N of: M }  # BRA, hangs on LDG.E in line 12; repeats 4 instructions in lines 12 to 15",
          "# or answer { line: 4 value: N }, or { line: 4 uniform: N } for numbers below N at random  # LDG.E, for lines 6, 8",
          "# or answer { line: 12 value: N }, or { line: 12 uniform: N } for numbers below N at random  # LDG.E, for line 15"));
  EXPECT_TRUE(import_lines(kAsks, kLaunch + "answer { line: 6 taken: 1 of: 2 } answer { line: 8 sectors: 32 }\n"
                                            "answer { line: 15 taken: 3 of: 4 }"));
}

// The instructions of `lines`, behind a load into R4, that a warp issues with all data unknown, and the assumptions.
struct Without {
  std::map<std::string, uint64_t> counts;
  std::vector<std::string> assumed;
};
Without without_slow_path(const std::string& lines) {
  const auto imported = import_lines("MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\n" + lines, kLaunch);
  EXPECT_TRUE(imported) << message_of(imported);
  if (!imported) return {};
  return {counts_of(imported->kernel), imported->report.assumed};
}

TEST(Diagnostics, SubroutinesThatOnlyComputeAreSlowPaths) {
  const Without root = without_slow_path(
      "MUFU.RSQ R5, R4 ;\nIADD3 R6, R4, -0xd000000, RZ ;\nISETP.GT.U32.AND P0, PT, R6, 0x727fffff, PT ;\n@!P0 BRA `(.L_fast) ;\n"
      "MOV R8, 0x100 ;\nCALL.REL.NOINC `(.L_slow) ;\nBRA `(.L_done) ;\n.L_fast:\nFMUL R5, R4, R5 ;\n.L_done:\nEXIT ;\n"
      ".L_slow:\nFMUL R5, R4, 2 ;\nMOV R9, 0x0 ;\nRET.REL.NODEC R8 `(kernel) ;\n");
  EXPECT_FALSE(root.counts.contains("CALL.REL.NOINC"));
  EXPECT_TRUE(root.counts.contains("FMUL"));
  EXPECT_THAT(root.assumed,
              testing::ElementsAre("line 8, BRA: the slow path of the compiler's (a subroutine that only computes) is not taken"));
  // A subroutine that loads is a part of the kernel.
  EXPECT_THAT(message_of(import_lines("MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\n"
                                      "ISETP.GT.AND P0, PT, R4, 0x3, PT ;\n@P0 CALL.REL.NOINC `(.L_f) ;\nEXIT ;\n"
                                      ".L_f:\nLDG.E R5, [R2.64] ;\nRET.REL.NODEC R8 `(kernel) ;\n",
                                      kLaunch)),
              StartsWith("kernel.sass:6:1: CALL.REL.NOINC: whether it is taken hangs on LDG.E in line 4"));
}

TEST(Diagnostics, TrapsAndLargeAnglesAreSlowPaths) {
  const Without trap = without_slow_path(
      "ISETP.GT.AND P0, PT, R4, 0x3, PT ;\n@P0 BRA `(.L_bad) ;\nEXIT ;\n.L_bad:\nNOP ;\nBPT.TRAP 0x1 ;\nEXIT ;\n");
  EXPECT_FALSE(trap.counts.contains("BPT.TRAP"));
  EXPECT_THAT(trap.assumed, testing::ElementsAre("line 6, BRA: the slow path of the compiler's (a trap) is not taken"));
  const Without angle = without_slow_path(
      "FSETP.GE.AND P0, PT, |R4|, 105615, PT ;\n@!P0 BRA `(.L_small) ;\nLDG.E R7, [R2.64] ;\n.L_small:\nEXIT ;\n");
  EXPECT_EQ(angle.counts.at("LDG.E"), 8U);
  EXPECT_THAT(angle.assumed, testing::ElementsAre(HasSubstr("(range reduction of a large angle) is not taken")));
}

TEST(Diagnostics, AssumedOpcodesGoOn) {
  const std::string lines = "FOO.BAR R4, R2, R2 ;\nFOO.BAR.X R5, R4, 0x1 ;\nEXIT ;\n";
  EXPECT_THAT(message_of(import_lines(lines, kLaunch)), HasSubstr("unknown opcode \"FOO.BAR\" of sm_80"));
  EXPECT_THAT(message_of(import_lines(lines, kLaunch)),
              HasSubstr("(to go on, state its pipe and latency: --assume FOO.BAR=alu,4)"));
  const auto imported = import_lines(lines, kLaunch, {.assume = {{"FOO", "alu", 4}}});
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_THAT(imported->report.assumed, testing::ElementsAre(testing::AllOf(
                                            StartsWith("FOO of line 2 and 1 more: as "),
                                            HasSubstr(", on the alu pipe with 4 cycles (stated: 4); its results are unknown"))));
  EXPECT_EQ(traces::issued_instructions(imported->kernel), 24U);
  EXPECT_THAT(message_of(import_lines(lines, kLaunch, {.assume = {{"FOO", "memory", 4}}})),
              HasSubstr("no opcode of sm_80 computes on pipe \"memory\"; it has alu"));
  EXPECT_THAT(message_of(import_lines("EXIT ;\n", kLaunch, {.assume = {{"FOO", "alu", 4}}})),
              HasSubstr("--assume \"FOO\": function kernel has no such opcode that sm_80 lacks"));
}

TEST(Diagnostics, AssumedOpcodesAreParsed) {
  const auto parsed = parse_assumed_opcode("FOO.BAR=fma_heavy,12");
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->opcode, "FOO.BAR");
  EXPECT_EQ(parsed->pipe, "fma_heavy");
  EXPECT_EQ(parsed->latency, 12U);
  EXPECT_TRUE(parsed->covers("FOO.BAR.X"));
  EXPECT_FALSE(parsed->covers("FOO.BARE"));
  for (const char* text : {"", "FOO", "FOO=alu", "=alu,4", "FOO=alu,", "FOO=alu,0", "FOO=alu,1001", "FOO=alu,4x", "FOO=alu,-1"}) {
    const auto refused = parse_assumed_opcode(text);
    ASSERT_FALSE(refused.has_value()) << text;
    EXPECT_THAT(refused.error().message, HasSubstr("expected OPCODE=pipe,latency with 1 to 1000 cycles"));
  }
}

TEST(Diagnostics, AnswersDecide) {
  const auto issued = [](const std::string& answer) {
    const auto imported = import_lines(kLoads, kLaunch + answer);
    EXPECT_TRUE(imported) << message_of(imported);
    return imported ? traces::issued_instructions(imported->kernel) / 8 : 0;
  };
  EXPECT_EQ(issued("answer { line: 6 taken: 1 }"), 6U);
  EXPECT_EQ(issued("answer { line: 6 taken: 0 }"), 7U);
  EXPECT_EQ(issued("answer { line: 4 value: 9 }"), 6U);
  EXPECT_EQ(issued("answer { line: 4 value: 3 }"), 7U);
  EXPECT_THAT(message_of(import_lines(kLoads, kLaunch + "answer { line: 40 value: 3 }")),
              HasSubstr("line 40 of kernel.sass has no instruction"));
}

TEST(Diagnostics, UnknownAddressesAskForSectors) {
  const std::string gather =
      "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nIMAD.WIDE R2, R4, 0x4, R2 ;\n"
      "LDG.E R6, [R2.64] ;\nEXIT ;\n";
  EXPECT_THAT(message_of(import_lines(gather, kLaunch)), HasSubstr("answer { line: 6 sectors: N }"));
  const auto imported = import_lines(gather, kLaunch + "answer { line: 6 sectors: 7 }");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(std::get<traces::Block>(imported->kernel.roles[0].body[0]).code[4].effect.bytes, 7U * 32);
}

// Lane l of CTA c accesses word 64 c + l; two CTAs fit into 4096 bytes eight times over.
const std::string kRows =
    "S2R R0, SR_TID.X ;\nS2R R1, SR_CTAID.X ;\nIMAD R0, R1, 0x40, R0 ;\nMOV R2, 0x4 ;\n"
    "IMAD.WIDE R2, R0, R2, c[0x0][0x160] ;\nLDG.E R4, [R2.64] ;\nEXIT ;\n";

TEST(Diagnostics, AccessesBeyondAnArrayAreRefused) {
  const auto launch = [](const std::string& bytes, const std::string& more = "") {
    return "architecture: \"sm_80\" grid { x: 16 } block { x: 64 }\narray { name: \"x\" bytes: " + bytes +
           " }\nparameter { array: \"x\" " + more + "}\n";
  };
  EXPECT_TRUE(import_lines(kRows, launch("4096")));
  EXPECT_THAT(
      message_of(import_lines(kRows, launch("4092"))),
      StartsWith("kernel.sass:7:1: LDG.E: accesses array x up to offset 4096, but the launch description states 4092 bytes; "
                 "state bytes: 4096, or pass --trust-addresses"));
  EXPECT_THAT(message_of(import_lines(kRows, launch("4096", "array_offset: 16 "))), HasSubstr("up to offset 4112"));
  const std::string below = "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64-0x10] ;\nEXIT ;\n";
  EXPECT_THAT(message_of(import_lines(below, launch("4096"))),
              StartsWith("kernel.sass:4:1: LDG.E: accesses array x at offset -16, before its beginning"));
  EXPECT_TRUE(import_lines(below, launch("4096", "array_offset: 16 ")));
}

TEST(Diagnostics, TrustedAddressesSizeTheirArrays) {
  const auto imported = import_lines(kRows,
                                     "architecture: \"sm_80\" grid { x: 16 } block { x: 64 }\n"
                                     "array { name: \"x\" bytes: 64 }\nparameter { array: \"x\" }\n",
                                     {.trust_addresses = true});
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.arrays.at(0).bytes, 4096U);
  EXPECT_EQ(imported->report.arrays.at(0).touched, 4096U);
  EXPECT_THAT(imported->report.assumed, testing::ElementsAre("array x has 4096 bytes, as accessed; stated: 64"));
}

// A table in shared memory at a loaded index, read and incremented.
const std::string kTable =
    "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nLDS R5, [R4.X4] ;\n"
    "ATOMS.ADD RZ, [R4.X4], R5 ;\nLDS.64 R6, [R4.X8] ;\nEXIT ;\n";

TEST(Diagnostics, SharedAccessesAtLoadedAddressesAreAtRandom) {
  const auto passes = [](const Imported& imported, size_t position) {
    return std::get<traces::Block>(imported.kernel.roles[0].body[0]).code[position].effect.wavefronts;
  };
  const auto imported = import_lines(kTable, kLaunch + "shared_memory_bytes: 4096");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(passes(*imported, 3), 4);
  EXPECT_EQ(passes(*imported, 4), 4);
  EXPECT_EQ(passes(*imported, 5), 6);
  EXPECT_THAT(imported->report.assumed,
              testing::ElementsAre("line 5, LDS at an unknown address: 32 lanes at random (uniform), 4 passes of shared memory "
                                   "(expected 3.53)",
                                   HasSubstr("line 6, ATOMS.ADD at an unknown address"), HasSubstr("(expected 6.16)")));
  const auto stated = import_lines(kTable, kLaunch + "shared_memory_bytes: 4096 answer { line: 5 sectors: 9 }");
  ASSERT_TRUE(stated) << message_of(stated);
  EXPECT_EQ(passes(*stated, 3), 9);
  EXPECT_EQ(stated->report.assumed.size(), 2U);
}

TEST(Diagnostics, SharedAccessesBehindLoadedGuardsAsk) {
  const std::string lines =
      "MOV R2, c[0x0][0x160] ;\nMOV R3, c[0x0][0x164] ;\nLDG.E R4, [R2.64] ;\nISETP.GE.AND P0, PT, R4, 0x8, PT ;\n"
      "@P0 STS [R4.X4], R4 ;\nEXIT ;\n";
  const std::string launch = kLaunch + "shared_memory_bytes: 4096 ";
  EXPECT_THAT(message_of(import_lines(lines, launch)),
              StartsWith("kernel.sass:6:1: STS: its guard or address hangs on LDG.E in line 4"));
  EXPECT_TRUE(import_lines(lines, launch + "answer { line: 6 taken: 1 of: 4 }"));
  EXPECT_TRUE(import_lines(lines, launch + "answer { line: 6 taken: 1 of: 4 } answer { line: 6 sectors: 2 }"));
  EXPECT_THAT(message_of(import_lines(lines, launch + "answer { line: 6 taken: 1 } answer { line: 6 taken: 0 }")),
              HasSubstr("line 6 is answered twice"));
}

TEST(Diagnostics, MissingParametersAreNamed) {
  const auto message = [](const std::string& constant) {
    return message_of(import_lines("MOV R2, RZ ;\nISETP.GT.AND P0, PT, RZ, " + constant + ", PT ;\n@P0 EXIT ;\nEXIT ;\n", kLaunch));
  };
  EXPECT_THAT(
      message("c[0x0][0x170]"),
      HasSubstr(
          "hangs on ISETP.GT.AND in line 3, which the listing does not know: c[0x0][0x170], a parameter at offset 16 that the "
          "launch description does not give: parameter { offset: 16 value: N } (a pointer: array: \"NAME\")"));
  EXPECT_THAT(message("c[0x0][R2+0x170]"),
              HasSubstr("a parameter that a register selects and the launch description does not give"));
  EXPECT_THAT(message("c[0x0][0x44]"), HasSubstr("c[0x0][0x44], which the driver sets"));
}

// Lane 0 leaves, so that its registers are never written; the other lanes' values hang on a constant.
TEST(Diagnostics, ConstantsThatTheListingLacksAreNamed) {
  EXPECT_THAT(
      message_of(import_lines("S2R R0, SR_TID.X ;\nISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 EXIT ;\nMOV R2, 0x3 ;\n"
                              "IMAD R4, R2, c[0x2][0x0], R2 ;\nISETP.NE.AND P0, PT, R2, R4, PT ;\n@P0 EXIT ;\nEXIT ;\n",
                              kLaunch)),
      HasSubstr("hangs on IMAD in line 6, which the listing does not know: c[0x2][0x0], a constant that the listing does not "
                "have; nvdisasm -hex FILE, without -c"));
}

TEST(Diagnostics, SharedMemoryOfUnknownSizeIsAskedFor) {
  const std::string message = message_of(import_lines("MOV R2, RZ ;\nLDS R3, [R2] ;\nEXIT ;\n", kLaunch));
  EXPECT_THAT(message, StartsWith("kernel.sass:3:1: LDS: the listing does not say how much shared memory a CTA has"));
  EXPECT_THAT(message, HasSubstr("cuobjdump -sass -res-usage"));
  EXPECT_THAT(message, HasSubstr("shared_memory_bytes: 4096"));
}

TEST(Diagnostics, IrreducibleLoops) {
  EXPECT_THAT(
      message_of(import_lines("ISETP.GT.AND P0, PT, RZ, c[0x0][0x168], PT ;\n@P0 BRA `(.L_2) ;\n.L_1:\nIADD3 R1, R1, 0x1, RZ ;\n"
                              ".L_2:\nISETP.GT.AND P0, PT, R1, 0x9, PT ;\n@!P0 BRA `(.L_1) ;\nEXIT ;\n",
                              kLaunch)),
      HasSubstr("irreducible loop"));
}

TEST(Diagnostics, LoopsThatNeverEnd) {
  EXPECT_THAT(message_of(import_lines(".L_1:\nBRA `(.L_1) ;\n", kLaunch)),
              HasSubstr("kernel.sass:3:1: the loop here does not end"));
}

TEST(Diagnostics, BrokenListings) {
  EXPECT_THAT(message_of(import_lines("FRABJOUS R1, R2 ;\nEXIT ;\n", kLaunch)), HasSubstr("kernel.sass:2"));
  EXPECT_THAT(message_of(import_lines("MOV R1, RZ\nEXIT ;\n", kLaunch)), HasSubstr("breaks off"));
  EXPECT_THAT(message_of(import_lines("MOV R1, RZ ;\n", kLaunch)), HasSubstr("runs past its last instruction"));
  EXPECT_THAT(message_of(import_lines("BRA `(.L_9) ;\nEXIT ;\n", kLaunch)), HasSubstr("no label .L_9"));
  EXPECT_THAT(message_of(import_lines("BRA 0x18 ;\nNOP ;\nEXIT ;\n", kLaunch)),
              StartsWith("kernel.sass:2:1: BRA: no instruction begins at its target; instructions of kernel begin every 16 bytes"));
  EXPECT_TRUE(import_lines("BRA 0x20 ;\nNOP ;\nEXIT ;\n", kLaunch));
  EXPECT_THAT(message_of(import_lines("BRA 0x40 ;\nEXIT ;\n", kLaunch)), HasSubstr("BRA leaves function kernel"));
  EXPECT_THAT(message_of(import_lines("BRX R4 -0x10 ;\nEXIT ;\n", kLaunch)), HasSubstr("hangs on a register"));
  EXPECT_THAT(message_of(import_lines("/*0000*/ MOV R1, RZ ; /* 0x123 */\nEXIT ;\n", kLaunch)),
              HasSubstr("second word of the encoding"));
  EXPECT_THAT(message_of(import_lines("/*0008*/ MOV R1, RZ ;\nEXIT ;\n", kLaunch)), HasSubstr("before sm_70"));
  EXPECT_THAT(message_of(import_lines("/*0000*/ MOV R1, RZ ;\n/*0030*/ EXIT ;\n", kLaunch)),
              HasSubstr("an instruction is missing"));
  EXPECT_THAT(message_of(import_lines("MOV 0x1 ;\nEXIT ;\n", kLaunch)), HasSubstr("operands are missing"));
  EXPECT_THAT(message_of(import_lines("", kLaunch)), HasSubstr("no function"));
}

TEST(Diagnostics, BrokenLaunches) {
  const std::string code = "EXIT ;\n";
  EXPECT_THAT(message_of(import_lines(code, "architecture: \"sm_80\" block { x: 32 }")), HasSubstr("grid is missing"));
  EXPECT_THAT(message_of(import_lines(code, "architecture: \"sm_80\" grid { x: 32 }")), HasSubstr("block is missing"));
  EXPECT_THAT(message_of(import_lines(code, "grid { x: 4 } block { x: 64 }")), HasSubstr("does not name its architecture"));
  EXPECT_THAT(message_of(import_lines(code, "architecture: \"sm_13\" grid { x: 4 } block { x: 64 }")), HasSubstr("sm_13"));
  EXPECT_THAT(message_of(import_lines(code, "architecture: \"sm_80\" grid { x: 4 } block { x: 2048 }")), HasSubstr("1 to 1024"));
  EXPECT_THAT(message_of(import_lines(code, "architecture: \"sm_80\" grid { x: 5 } block { x: 32 } cluster { x: 2 }")),
              HasSubstr("whole clusters"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "parameter { array: \"y\" }")), HasSubstr("no array is called \"y\""));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "array { name: \"x\" bytes: 4 }")), HasSubstr("exists twice"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "array { name: \"z\" }")), HasSubstr("needs bytes"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "parameter { bytes: 4 }")), HasSubstr("one of array, value and real"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "parameter { value: 1 bytes: 3 }")), HasSubstr("4 or 8 bytes"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "answer { value: 1 }")), HasSubstr("needs the line"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "answer { line: 2 taken: 3 of: 2 }")), HasSubstr("at most of"));
  EXPECT_THAT(message_of(import_lines(code, kLaunch + "function: \"kernl\"")), HasSubstr("did you mean"));
}

TEST(Diagnostics, SeveralFunctionsNeedAName) {
  configs::KernelLaunch launch;
  ASSERT_TRUE(configs::parse_text("launch", kLaunch, launch));
  const auto imported =
      import_listing("e.sass", read_file(data_file("configs/kernels/elementwise_sm_80.sass")).value(), launch, {});
  EXPECT_THAT(message_of(imported), HasSubstr("row_sums, scale_add"));
}

// x & 5 is no linear function of the CTA's index: CTAs are followed one by one where it decides.
TEST(Diagnostics, DecisionsByRemaindersFollowEveryCta) {
  const auto imported = import_lines(
      "S2R R0, SR_CTAID.X ;\nLOP3.LUT R1, R0, 0x5, RZ, 0xc0, !PT ;\n"
      "ISETP.EQ.AND P0, PT, R1, 0x5, PT ;\n@P0 EXIT ;\nMOV R2, RZ ;\nEXIT ;\n",
      "architecture: \"sm_80\" grid { x: 16 } block { x: 32 }");
  ASSERT_TRUE(imported) << message_of(imported);
  EXPECT_EQ(imported->report.followed_ctas, 16U);
  EXPECT_EQ(traces::ctas_by_class(imported->kernel), (std::vector<uint64_t>{12, 4}));
}

// Every prefix is either a listing or one message; nothing of it crashes or hangs.
TEST(Diagnostics, EveryPrefixOfAListing) {
  configs::KernelLaunch launch;
  ASSERT_TRUE(configs::parse_text("launch", kLaunch, launch));
  const std::string with_encodings =
      "\t\tFunction : kernel\n\t.headerflags\t@\"EF_CUDA_SM80\"\n"
      "        /*0000*/                   MOV R1, c[0x0][0x28] ;      /* 0x00000a0000017a02 */\n"
      "                                                               /* 0x000fe40000000f00 */\n"
      "        /*0010*/                   EXIT ;                      /* 0x000000000000794d */\n"
      "                                                               /* 0x000fea0003800000 */\n";
  for (const std::string& text : {with_encodings, ".text.kernel:\n" + kLoads}) {
    for (size_t length = 0; length < text.size(); ++length) {
      const auto imported = import_listing("p.sass", text.substr(0, length), launch, {});
      if (imported) continue;
      EXPECT_FALSE(imported.error().message.empty());
      EXPECT_THAT(imported.error().message, testing::Not(HasSubstr("\n")));
    }
  }
}

}  // namespace
}  // namespace warpfold::sass
