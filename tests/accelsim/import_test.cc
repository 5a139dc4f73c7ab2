// Traces become kernels that issue the instructions of the files.

#include <gtest/gtest.h>

#include "tests/accelsim/trace_text.h"
#include "traces/trace_file.h"

namespace warpfold::test {
namespace {

using traces::Kernel;

const std::string kExit = "0200 ffffffff 0 EXIT 0 0 0\n";

const isa::Effect& effect_of(const Kernel& kernel, const std::string& opcode) {
  for (const traces::Role& role : kernel.roles) {
    for (const traces::Node& node : role.body) {
      const auto& block =
          std::get<traces::Block>(std::holds_alternative<traces::Loop>(node) ? std::get<traces::Loop>(node).body[0] : node);
      for (const isa::Instruction& instruction : block.code) {
        if (instruction.mnemonic == opcode) return instruction.effect;
      }
    }
  }
  throw std::logic_error("no " + opcode);
}

// Lines of one warp in the middle of a program, and EXIT.
Kernel of_warp(const std::string& lines, int version = 5) {
  return imported(trace_header(version) + thread_block(0, {lines + kExit}));
}

TEST(Import, HeadersSayTheLaunch) {
  const auto made = import_text(trace_header(5, 4, 64) + thread_block(0, {kExit, kExit}) + thread_block(1, {kExit, kExit}));
  ASSERT_TRUE(made) << made.error().text();
  EXPECT_EQ(made->kernel.name, "sample");
  EXPECT_EQ(made->kernel.architecture, "sm_80");
  EXPECT_EQ(made->kernel.registers_per_thread, 40);
  EXPECT_EQ(made->kernel.shared_memory_bytes, 1024);
  EXPECT_EQ(made->kernel.warps_per_cta(), 2);
  EXPECT_EQ(made->stream, 7);
  EXPECT_EQ(made->id, 3);
  // CTAs without instructions are left out of traces.
  EXPECT_EQ(made->kernel.ctas(), 2);
  EXPECT_EQ(made->ctas_of_grid, 4);
}

TEST(Import, LoopsRollAndCountsAreTheFiles) {
  std::string warp = "0000 ffffffff 1 R1 MOV 0 0 0\n";
  for (int i = 0; i < 50; ++i) {
    warp += "0010 ffffffff 1 R2 IADD3 2 R2 R255 0 1\n0020 ffffffff 0 ISETP.GE.AND 1 R2 0 50\n0030 ffffffff 0 BRA 0 0 16\n";
  }
  const Kernel kernel = of_warp(warp);
  ASSERT_EQ(kernel.roles.size(), 1);
  ASSERT_EQ(kernel.roles[0].body.size(), 3);
  EXPECT_EQ(std::get<traces::Loop>(kernel.roles[0].body[1]).trips.literal, 50);
  EXPECT_EQ(counts_of(kernel, kernel.roles[0], kernel.cta_classes[0]),
            (OpcodeCounts{{"MOV", 1}, {"IADD3", 50}, {"ISETP.GE.AND", 50}, {"BRA", 50}, {"EXIT", 1}}));
}

TEST(Import, WarpsOfOneProgramAreARole) {
  const std::string other = "0000 ffffffff 1 R1 MOV 0 0 0\n" + kExit;
  const Kernel kernel = imported(trace_header(5, 1, 128) + thread_block(0, {kExit, other, other, kExit}));
  ASSERT_EQ(kernel.roles.size(), 3);
  EXPECT_EQ(kernel.roles[1].warps, 2);
}

TEST(Import, TripCountsByCtaAreParameters) {
  std::string text = trace_header(5, 4, 32);
  for (uint64_t cta = 0; cta < 4; ++cta) {
    std::string warp = "0000 ffffffff 1 R1 MOV 0 0 0\n";
    for (uint64_t trip = 0; trip < 2 + cta / 2; ++trip)
      warp += "0010 ffffffff 1 R2 IADD3 2 R2 R255 0 1\n0020 ffffffff 0 BRA 0 0 16\n";
    text += thread_block(cta, {warp + kExit});
  }
  const Kernel kernel = imported(text);
  EXPECT_EQ(kernel.parameters.size(), 1);
  ASSERT_EQ(kernel.cta_classes.size(), 2);
  EXPECT_EQ(kernel.cta_classes[0].values, (std::vector<uint64_t>{2}));
  EXPECT_EQ(kernel.cta_classes[1].values, (std::vector<uint64_t>{3}));
  EXPECT_EQ(kernel.grid, (std::vector<traces::CtaRun>{{0, 2}, {1, 2}}));
}

// CTAs with different paths have these paths in loops of one trip, which the other CTAs skip.
TEST(Import, OtherWaysAreLoopsThatAreSkipped) {
  const std::vector<std::string> ways = {"0010 ffffffff 1 R2 FADD 2 R2 R3 0 0\n", "0020 ffffffff 1 R2 FMUL 2 R2 R3 0 0\n"};
  const Kernel kernel = imported(trace_header(5, 3) + thread_block(0, {ways[0] + kExit}) + thread_block(1, {ways[1] + kExit}) +
                                 thread_block(2, {ways[0] + kExit}));
  ASSERT_EQ(kernel.cta_classes.size(), 2);
  EXPECT_EQ(opcodes_of(kernel, kernel.roles[0], kernel.cta_classes[0]), (std::vector<std::string>{"FADD", "EXIT"}));
  EXPECT_EQ(opcodes_of(kernel, kernel.roles[0], kernel.cta_classes[1]), (std::vector<std::string>{"FMUL", "EXIT"}));
}

// Lanes that end early, and an EXIT that none takes, end no warp.
TEST(Import, OnlyTheLastExitEndsTheWarp) {
  const Kernel kernel = of_warp("0010 fffffff0 0 EXIT 0 0 0\n0020 00000000 0 EXIT 0 0 0\n0030 0000000f 1 R1 MOV 0 0 0\n");
  EXPECT_EQ(opcodes_of(kernel, kernel.roles[0], kernel.cta_classes[0]), (std::vector<std::string>{"EXIT", "EXIT", "MOV", "EXIT"}));
}

TEST(Import, AMemoryInstructionWithoutLanesMovesNothing) {
  const Kernel kernel = of_warp("0080 00000000 1 R6 LDG.E.64 1 R28 8 1 0x0 0 0\n");
  const auto& code = std::get<traces::Block>(kernel.roles[0].body[0]).code;
  EXPECT_TRUE(code[0].guard.never());
  EXPECT_TRUE(kernel.streams.empty());
}

TEST(Import, AddressesBecomeBytesAndShares) {
  const Kernel kernel = of_warp(
      "0010 ffffffff 1 R4 LDG.E.128 1 R2 16 1 0x7e1000000000 16 0\n"
      "0020 ffffffff 1 R8 LDG.E 1 R2 4 1 0x7e1000000000 4 0\n"
      "0030 ffffffff 0 STG.E 2 R2 R8 4 1 0x7e1000010000 4 0\n");
  EXPECT_EQ(effect_of(kernel, "LDG.E.128").bytes, 512);
  const traces::MemoryStream& again = kernel.streams.at(static_cast<size_t>(effect_of(kernel, "LDG.E").stream));
  EXPECT_EQ(again.l1_numerator, again.l1_denominator);  // of the line that the first one fetched
  EXPECT_EQ(effect_of(kernel, "STG.E").bytes, 128);
  const traces::MemoryStream& loads = kernel.streams.at(static_cast<size_t>(effect_of(kernel, "LDG.E.128").stream));
  EXPECT_EQ(loads.dram_numerator, loads.dram_denominator);
}

TEST(Import, ALoopThatReadsALineEightTimesHitsSevenTimes) {
  std::string warp;
  for (int i = 0; i < 512; ++i) {
    const int at = i / 8 * 128 + 0x10000000;
    char hexadecimal[32];
    std::snprintf(hexadecimal, sizeof hexadecimal, "%x", at);
    warp += "0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x" + std::string(hexadecimal) + " 4 0\n0020 ffffffff 0 BRA 0 0 16\n";
  }
  const Kernel kernel = of_warp(warp);
  ASSERT_EQ(kernel.streams.size(), 1);
  EXPECT_EQ(kernel.streams[0].l1_numerator, 7);
  EXPECT_EQ(kernel.streams[0].l1_denominator, 8);
  EXPECT_EQ(effect_of(kernel, "LDG.E").bytes, 128);
}

TEST(Import, BankConflictsAndMatrices) {
  const Kernel kernel = of_warp(
      "0010 ffffffff 1 R4 LDS 1 R2 4 1 0x0 128 0\n"
      "0020 ffffffff 1 R8 LDSM.16.M88.4 1 R2 2 1 0x0 128 0\n"
      "0030 ffffffff 0 STS.128 2 R2 R4 16 1 0x0 16 0\n");
  EXPECT_EQ(effect_of(kernel, "LDS").wavefronts, 32);
  EXPECT_EQ(effect_of(kernel, "LDSM.16.M88.4").wavefronts, 32);  // eight rows of each of four matrices on the same banks
  EXPECT_EQ(effect_of(kernel, "STS.128").wavefronts, 0);         // none beyond its own four
}

// A generic access to the window of shared memory leaves the SM no bytes.
TEST(Import, GenericAccessesOfSharedMemory) {
  EXPECT_TRUE(effect_of(of_warp("0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0000000100 4 0\n"), "LD.E").l1_hit);
}

TEST(Import, LocalMemoryStaysInL1) {
  const Kernel kernel = of_warp("0010 ffffffff 0 STL 2 R1 R4 4 1 0x7e0000000000 4 0\n");
  EXPECT_EQ(effect_of(kernel, "STL").bytes, 0);
}

TEST(Import, GroupsOfCopiesAreCountedByEffect) {
  const Kernel kernel = of_warp(
      "0010 ffffffff 0 LDGSTS.E.BYPASS.LTC128B.128 2 R9 R10 16 1 0x10000 16 0\n"
      "0020 ffffffff 0 LDGDEPBAR 0 0 0\n0030 ffffffff 0 DEPBAR.LE 0 0 1\n");
  EXPECT_TRUE(effect_of(kernel, "LDGDEPBAR").commit);
  EXPECT_EQ(effect_of(kernel, "DEPBAR.LE.LDGSTS").count, 1);
  EXPECT_EQ(effect_of(kernel, "LDGSTS.E.BYPASS.LTC128B.128").bytes, 512);
}

TEST(Import, BarriersAreOfTheWarpsThatComeToThem) {
  const std::string all = "0010 ffffffff 0 BAR.SYNC 0 0 0\n";
  const std::string some = "0020 ffffffff 0 BAR.SYNC 0 0 1\n";
  const Kernel kernel = imported(trace_header(5, 1, 96) + thread_block(0, {all + some + kExit, all + some + kExit, all + kExit}));
  const auto& code = std::get<traces::Block>(kernel.roles[0].body[0]).code;
  EXPECT_EQ(code[0].effect.barrier, 0);
  EXPECT_EQ(code[0].effect.count, 0);
  EXPECT_EQ(code[1].effect.barrier, 1);
  EXPECT_EQ(code[1].effect.count, 64);
}

// Up to version 5 the register that SHFL writes stands among the sources, behind a predicate that is left out.
TEST(Import, AWrittenRegisterBehindAPredicate) {
  const Kernel kernel = of_warp("0010 ffffffff 0 SHFL.BFLY 2 R97 R96 0 31\n");
  const auto& operands = std::get<traces::Block>(kernel.roles[0].body[0]).code[0].operands;
  EXPECT_EQ(operands[1].text, "R97");
  EXPECT_TRUE(operands[1].destination);
  EXPECT_FALSE(operands[2].destination);
}

TEST(Import, ComparisonsWriteNoGeneralRegister) {
  const Kernel kernel = of_warp("0010 ffffffff 0 ISETP.NE.AND 1 R127 0 1\n");
  for (const isa::Operand& operand : std::get<traces::Block>(kernel.roles[0].body[0]).code[0].operands) {
    if (operand.kind == isa::OperandKind::kRegister) {
      EXPECT_FALSE(operand.destination);
    }
  }
}

TEST(Import, ReplayMarkersAreNoInstructions) {
  const Kernel kernel = of_warp("0010 ffffffff 0 REPLAY_START 0\n0020 ffffffff 1 R1 MOV 0 0 0 0 NoVal\n", 6);
  EXPECT_EQ(traces::issued_instructions(kernel), 2);
}

// Before version 3 each line begins with the CTA and the warp.
TEST(Import, LinesOfVersionOneAndTwo) {
  const std::string body =
      "#BEGIN_TB\n\nthread block = 1,0,0\n\nwarp = 0\ninsts = 2\n1 0 0 0 0010 ffffffff 1 R1 MOV 0 0\n"
      "1 0 0 0 0020 ffffffff 0 EXIT 0 0\n\n#END_TB\n";
  for (const int version : {1, 2}) {
    EXPECT_EQ(traces::issued_instructions(imported(trace_header(version, 2) + body)), 2) << version;
  }
}

// As the tracer writes it, warps of several CTAs in turns.
TEST(Import, RawTraces) {
  const std::string format =
      "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask dest_num [reg_dests] opcode "
      "src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate\n";
  const std::string lines =
      "0 0 0 0 0010 ffffffff 1 R1 MOV 0 0 0\n1 0 0 0 0010 ffffffff 1 R1 MOV 0 0 0\n"
      "1 0 0 0 0020 ffffffff 0 EXIT 0 0 0\n0 0 0 0 0020 ffffffff 0 EXIT 0 0 0\n";
  const Kernel kernel = imported(trace_header(5, 2, 32, format) + lines);
  EXPECT_EQ(kernel.ctas(), 2);
  EXPECT_EQ(traces::issued_instructions(kernel), 4);
}

// From version 5 on the header does not name the columns before the PC.
TEST(Import, RawTracesWhoseHeaderNamesNoCta) {
  const std::string format = "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width imm\n";
  const auto lines = [](const std::string& more) {
    std::string text;
    for (const std::string at : {"0 0 0 0", "1 0 0 0", "1 0 0 1", "0 0 0 1"}) {
      for (const std::string line :
           {"0010 ffffffff 1 R1 MOV 0 0 0", "0020 00000001 1 R4 LDG.E 1 R2 4 0 0x7e1000000000 0", "0030 ffffffff 0 EXIT 0 0 0"}) {
        text += at;
        text += more;
        text += " " + line + "\n";
      }
    }
    return text;
  };
  for (const auto& [version, more] : std::vector<std::pair<int, std::string>>{
           {5, ""}, {5, " 17 3"}, {6, " 0 0 0 0 0 0 0"}, {6, ""}, {6, " 0 0 0 0 0 0 0 17 3"}}) {
    const Kernel kernel = imported(trace_header(version, 2, 64, format) + lines(more));
    EXPECT_EQ(kernel.ctas(), 2) << version << more;
    EXPECT_EQ(traces::issued_instructions(kernel), 12) << version << more;
  }
  const Kernel numbered = imported(trace_header(5, 2, 64, "-enable lineinfo = 1\n" + format) + lines(" 812"));
  EXPECT_EQ(traces::issued_instructions(numbered), 12);
}

// One line for the address in shared memory, one for that in global memory.
TEST(Import, LdgstsOfRawTracesHasTwoLines) {
  const std::string format = "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width imm\n";
  const std::string copy = "0 0 0 0 0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R9 R10 16 1 ";
  const std::string exit = "0 0 0 0 0030 ffffffff 0 EXIT 0 0 0\n";
  const std::string shared = copy + "0x400 16 0\n";
  const Kernel kernel = imported(trace_header(5, 1, 32, format) + shared + copy + "0x7e1000000000 16 0\n" + exit);
  EXPECT_EQ(traces::issued_instructions(kernel), 2);
  EXPECT_EQ(effect_of(kernel, "LDGSTS.E.BYPASS.128").bytes, 512);
  const auto one = import_text(trace_header(5, 1, 32, format) + shared + exit);
  ASSERT_FALSE(one);
  EXPECT_NE(one.error().message.find("between the two lines of an LDGSTS"), std::string::npos) << one.error().text();
}

// DEPBAR waits for groups of LDGSTS where LDGDEPBAR has committed some, on an architecture that has them.
TEST(Import, DepbarOfAPlainCounterWaitsForNoGroup) {
  const std::string depbar = "0040 ffffffff 0 DEPBAR.LE 0 0 0\n";
  for (const auto& [version, architecture] : std::vector<std::pair<int, std::string>>{{5, "sm_70"}, {4, "sm_86"}}) {
    const auto plain = import_text(trace_header(version) + thread_block(0, {depbar + kExit}), architecture);
    ASSERT_TRUE(plain) << plain.error().text();
    EXPECT_EQ(plain->counter_waits, 1U);
    EXPECT_EQ(counts_of(plain->kernel, plain->kernel.roles[0], plain->kernel.cta_classes[0]),
              (OpcodeCounts{{"DEPBAR.LE", 1}, {"EXIT", 1}}));
  }
  const auto groups = import_text(trace_header() + thread_block(0, {"0030 ffffffff 0 LDGDEPBAR 0 0 0\n" + depbar + kExit}));
  ASSERT_TRUE(groups) << groups.error().text();
  EXPECT_EQ(groups->counter_waits, 0U);
  EXPECT_EQ(effect_of(groups->kernel, "DEPBAR.LE.LDGSTS").count, 0);
}

TEST(Import, KernelsReadBackFromTheirText) {
  const Kernel kernel = of_warp("0010 ffffffff 1 R4 LDG.E.128 1 R2 16 1 0x7e1000000000 16 0\n");
  const auto read = traces::parse_kernels("sample.wfs", traces::format_kernels({kernel}));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->front(), kernel);
}

}  // namespace
}  // namespace warpfold::test
