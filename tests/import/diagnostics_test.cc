#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/read_file.h"
#include "support.h"

// What is wrong with a listing or a launch description: one message with file, line and what to do.

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

TEST(Diagnostics, MissingParametersAreNamed) {
  EXPECT_THAT(message_of(import_lines("ISETP.GT.AND P0, PT, RZ, c[0x0][0x170], PT ;\n@P0 EXIT ;\nEXIT ;\n", kLaunch)),
              HasSubstr("a constant or parameter that the launch description does not give"));
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
