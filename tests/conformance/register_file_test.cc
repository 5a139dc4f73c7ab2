// Register-file ports, the register-file cache and the write port.
// Source, unless said otherwise: Huerta, Abaie Shoushtary, Cruz, Gonzalez, "Dissecting and Modeling the Architecture of
// Modern GPU Cores", MICRO 2025 (RTX A6000, sm_86).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::Contended;
using testing::AllOf;
using testing::Ge;
using testing::Le;

// Returns the cycles between two clock reads around `middle`, all with stall count 1.
uint64_t elapsed(const Lines& middle) {
  const Lines lines = join(join({op("CS2R R0, SR_CLOCKLO")}, middle), {op("CS2R R2, SR_CLOCKLO")});
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  return run.warp(0).at(lines.size() - 1) - run.warp(0).at(0);
}

Lines two_ffma(const std::string& rx, const std::string& ry) {
  return {op("NOP"), op("FFMA R11, R10, R12, R14"), op(text({"FFMA R13, R16, ", rx, ", ", ry}))};
}

TEST(RegisterReadPorts, BubblesOfTheSecondFfmaFollowTheBanksOfItsSources) {
  const Lines nop = {op("NOP")};
  EXPECT_EQ(elapsed(join(two_ffma("R19", "R21"), nop)), 5);
  EXPECT_EQ(elapsed(join(two_ffma("R18", "R21"), nop)), 6);
  EXPECT_EQ(elapsed(join(two_ffma("R18", "R20"), nop)), 7);
}

TEST(RegisterReadPorts, IssueStageDoesNotLookAtPorts) {
  // Without a NOP after it, the held FFMA delays no other instruction: the clock read issues while the FFMA waits in
  // the control stage.
  EXPECT_EQ(elapsed(two_ffma("R19", "R21")), 4);
  EXPECT_EQ(elapsed(two_ffma("R18", "R21")), 4);
  EXPECT_EQ(elapsed(two_ffma("R18", "R20")), 4);
}

double sm86_interval(const std::string& instruction) {
  return cycles_per_instruction(one_sm("rtx_a6000"), repeat(32, {op(instruction)}), 1);
}

TEST(RegisterReadPorts, TwoSourcesOfOneBankCostOneBubble) {
  EXPECT_DOUBLE_EQ(sm86_interval("FMUL R1, R2, R5"), 1.0);
  EXPECT_DOUBLE_EQ(sm86_interval("FADD R1, R2, R5"), 1.0);
  EXPECT_DOUBLE_EQ(sm86_interval("FMUL R1, R2, R4"), 2.0);
  EXPECT_DOUBLE_EQ(sm86_interval("FADD R1, R3, R5"), 2.0);
}

TEST(RegisterReadPorts, ThreeSourcesOfOneBankCostTwoBubbles) {
  EXPECT_DOUBLE_EQ(sm86_interval("FFMA R1, R2, R5, R6"), 2.0);
  EXPECT_DOUBLE_EQ(sm86_interval("FFMA R1, R2, R4, R6"), 3.0);
}

// ---- register-file cache. A hit shows as a read that the ports do not serve.

uint64_t port_reads(const Lines& lines) {
  return replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines})).busy("register_read_ports");
}

// Returns the port reads that each line adds.
std::vector<uint64_t> reads_of_each(const Lines& lines) {
  std::vector<uint64_t> reads;
  uint64_t before = 0;
  for (size_t n = 1; n <= lines.size(); ++n) {
    const uint64_t all = port_reads(Lines(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(n)));
    reads.push_back(all - before);
    before = all;
  }
  return reads;
}

using Reads = std::vector<uint64_t>;

TEST(RegisterFileCache, AHitWithoutReuseMakesTheEntryUnavailable) {
  EXPECT_EQ(reads_of_each({op("IADD3 R1, R2.reuse, R3, R4"), op("FFMA R5, R2, R7, R8"), op("IADD3 R10, R2, R12, R13")}),
            (Reads{3, 2, 3}));
}

TEST(RegisterFileCache, AHitWithReuseKeepsTheEntry) {
  EXPECT_EQ(reads_of_each({op("IADD3 R1, R2.reuse, R3, R4"), op("FFMA R5, R2.reuse, R7, R8"), op("IADD3 R10, R2, R12, R13")}),
            (Reads{3, 2, 2}));
}

TEST(RegisterFileCache, AnotherOperandSlotMissesAndTheOtherBankDoesNotEvict) {
  EXPECT_EQ(reads_of_each({op("IADD3 R1, R2.reuse, R3, R4"), op("FFMA R5, R7, R2, R8"), op("IADD3 R10, R2, R12, R13")}),
            (Reads{3, 3, 2}));
}

TEST(RegisterFileCache, AnotherRegisterOfTheSameBankAndSlotEvicts) {
  EXPECT_EQ(reads_of_each({op("IADD3 R1, R2.reuse, R3, R4"), op("FFMA R5, R4, R7, R8"), op("IADD3 R10, R2, R12, R13")}),
            (Reads{3, 3, 3}));
}

TEST(RegisterFileCache, AHitNeedsTheSameWarp) {
  // The younger warp issues first and keeps the slot; the older one then reads the same register number.
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {{op("IADD3 R10, R2, R12, R13")},  //
                                                                           {op("IADD3 R1, R2.reuse, R3, R4")}}));
  ASSERT_LT(run.warp(4).at(0), run.warp(0).at(0));
  EXPECT_EQ(run.busy("register_read_ports"), 6);
}

TEST(RegisterFileCache, HitsTakeTheBubblesAway) { EXPECT_DOUBLE_EQ(sm86_interval("FFMA R1, R2.reuse, R4.reuse, R6"), 1.0); }

TEST(RegisterFileCache, WhatIsPredicatedOffReadsNothing) {
  EXPECT_EQ(reads_of_each({op("IADD3 R1, R2, R3, R4"), op("@!PT FFMA R5, R2.reuse, R7, R8"), op("IADD3 R10, R2, R12, R13")}),
            (Reads{3, 0, 3}));
}

// ---- write port

// Returns the cycles from the issue of a shared-memory load (24 uncontended) to its consumer. An FFMA (latency 4) that
// writes `destination` issues `at` cycles after the load.
uint64_t load_to_use(const std::string& destination, int at) {
  const Lines lines = {op("LDS R4, [R2]", {.stall = 10, .write = 0}), op("NOP", {.stall = at - 10}),
                       op(text({"FFMA ", destination, ", R9, R10, R11"})), op("NOP", {.wait = {0}})};
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  return run.warp(0).at(3) - run.warp(0).at(0);
}

TEST(RegisterWritePort, ALoadWaitsOneCycleForAFixedLatencyResultOfItsBank) {
  EXPECT_EQ(load_to_use("R8", 20), 25);  // both even, both in cycle 24
  EXPECT_EQ(load_to_use("R7", 20), 24);  // another bank
  EXPECT_EQ(load_to_use("R8", 19), 24);  // another cycle
  EXPECT_EQ(load_to_use("R8", 21), 24);
}

TEST(RegisterWritePort, TwoFixedLatencyResultsAtOnceAreNotDelayed) {
  // HADD2 (latency 5), then FFMA (latency 4): both results reach the even bank in the same cycle. The consumers issue
  // as the stall counts say, at 5 and 6, and no wait is charged.
  const Lines lines = {op("HADD2 R4, R2, R3"), op("FFMA R6, R8, R9, R11", {.stall = 4}), op("FFMA R12, R4, R9, R11"),
                       op("FFMA R14, R6, R9, R11")};
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  const uint64_t start = run.warp(0).at(0);
  EXPECT_THAT(run.warp(0), testing::ElementsAre(start, start + 1, start + 5, start + 6, start + 7));
  EXPECT_EQ(run.ledger(0, 0, Contended::kRegisterWritePort), 0);
}

// ---- FFMA rate on Hopper, instructions a cycle and sub-core. Sources: cicuvc register_bandwidth (H800), B300 catalogue.

double ffma_rate(const Lines& lines) { return 1.0 / cycles_per_instruction(one_sm("h100_sxm"), lines); }

// Published: 0.64 to 0.65 for compiled code, and 960 B/clk/SM of register reads beside wgmma, which is 0.625. With
// Ampere's three-cycle window, which is published for sm_86 only, the model reaches 0.62.
TEST(FfmaRate, ThreeFreshRandomRegisters) {
  const double rate = ffma_rate(three_fresh("FFMA", 512));
  RecordProperty("simulated", std::to_string(rate));
  EXPECT_NEAR(rate, 0.645, 0.05 * 0.645);
  EXPECT_NEAR(rate, 0.625, 0.02 * 0.625);
}

TEST(FfmaRate, TwoEvenAndOneOddSourceReachOneHalf) { EXPECT_NEAR(ffma_rate(repeat(32, {op("FFMA R1, R2, R5, R6")})), 0.5, 0.005); }

TEST(FfmaRate, ReuseReachesOne) {
  EXPECT_THAT(ffma_rate(repeat(32, {op("FFMA R1, R2.reuse, R4.reuse, R6")})), AllOf(Ge(0.96), Le(1.0)));
}

}  // namespace
}  // namespace warpfold::test
