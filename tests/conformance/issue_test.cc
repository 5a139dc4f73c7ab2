// Issue: policy, stall counts, yield, dependence counters, instruction cache.
// Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025 (RTX A6000, sm_86).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// Writes 32 independent additions; the second one has `control`.
Lines additions(const Control& control) {
  Lines lines = repeat(32, {op("FADD R1, R2, R3")});
  lines[1] = op("FADD R1, R2, R3", control);
  return lines;
}

struct Issue {
  uint64_t cycle;
  int warp;  // W0 to W3, the oldest first
};

std::vector<Issue> four_warps(const Control& second) {
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", std::vector<Lines>(4, additions(second))));
  std::vector<Issue> issues;
  for (int w = 0; w < 4; ++w) {
    for (const uint64_t cycle : run.warp(static_cast<size_t>(4 * w))) issues.push_back({cycle, w});
  }
  std::ranges::sort(issues, {}, &Issue::cycle);
  return issues;
}

std::vector<int> order(const std::vector<Issue>& issues, size_t count) {
  std::vector<int> warps;
  for (size_t i = 0; i < count; ++i) warps.push_back(issues[i].warp);
  return warps;
}

TEST(IssuePolicy, StallOfTheSecondInstructionRotatesTheYoungestWarps) {
  const std::vector<Issue> issues = four_warps({.stall = 4});
  // W3 W3 W2 W2 W1 W1, then W3 to its end, W2, W1. Each issues 32 additions and the exit. W0 comes last.
  std::vector<int> expected = {3, 3, 2, 2, 1, 1};
  for (const int warp : {3, 2, 1}) expected.insert(expected.end(), 31, warp);
  expected.insert(expected.end(), 33, 0);
  EXPECT_EQ(order(issues, issues.size()), expected);
  for (size_t i = 1; i < issues.size() - 31; ++i) EXPECT_EQ(issues[i].cycle, issues[i - 1].cycle + 1) << i;
}

TEST(IssuePolicy, TheLastWarpAloneShowsItsStall) {
  const std::vector<Issue> issues = four_warps({.stall = 4});
  const size_t second = issues.size() - 32;
  ASSERT_EQ(issues[second].warp, 0);
  // The paper's text says four bubbles after W0's second instruction. Everywhere else in the paper, a stall count of 4
  // means that the next issue is four cycles later (a dependent addition of latency 4), after three empty cycles. The
  // test expects three.
  EXPECT_EQ(issues[second + 1].cycle - issues[second].cycle, 4);
}

TEST(IssuePolicy, YieldOfTheSecondInstructionSwitchesTwoWarps) {
  EXPECT_EQ(order(four_warps({.yield = true}), 6), (std::vector{3, 3, 2, 2, 3, 3}));
}

std::vector<uint64_t> alone(const Lines& lines, const std::string& gpu = "rtx_a6000") {
  const configs::Gpu machine = one_sm(gpu);
  std::vector<uint64_t> issues = replay(machine, on_one_sub_core(machine.architecture(), {lines})).warp(0);
  const uint64_t start = issues.at(0);
  for (uint64_t& cycle : issues) cycle -= start;
  return issues;
}

TEST(Yield, AloneItIsOneBubble) {
  EXPECT_EQ(alone({op("NOP"), op("NOP", {.yield = true}), op("NOP")}), (std::vector<uint64_t>{0, 1, 3, 4}));
  // H100: with yield, a NOP of a chain takes 2.01 cycles instead of 1.01 (cicuvc yield_dispatch_cost).
  EXPECT_EQ(alone(repeat(3, {op("NOP", {.yield = true})}), "h100_sxm"), (std::vector<uint64_t>{0, 2, 4, 6}));
}

TEST(DependenceCounters, AConsumerRightBehindItsProducerDoesNotSeeTheIncrement) {
  EXPECT_EQ(alone({op("LDS R4, [R2]", {.stall = 1, .write = 0}), op("NOP", {.wait = {0}})}).at(1), 1);
  EXPECT_EQ(alone({op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("NOP", {.wait = {0}})}).at(1), 24);
}

TEST(DependenceCounters, ReleaseAtTheReadOfTheSources) {
  EXPECT_EQ(alone({op("LDS R4, [R2]", {.stall = 1, .read = 3}), op("NOP", {.wait = {3}})}).at(1), 1);
  EXPECT_EQ(alone({op("LDS R4, [R2]", {.stall = 2, .read = 3}), op("NOP", {.wait = {3}})}).at(1), 9);
}

TEST(DependenceCounters, AnEarlierIncrementIsSeenBehindAnother) {
  // Only the newest increment is hidden. The counter is 1 already, so the consumer right after the second load waits.
  const auto issues =
      alone({op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("LDS R5, [R2]", {.stall = 1, .write = 0}), op("NOP", {.wait = {0}})});
  EXPECT_GE(issues.at(2), 26);
}

// Issues three loads and then DEPBAR.LE SB0, `left`. Returns the cycle in which the DEPBAR issues: when all loads but
// `left` have returned.
uint64_t depbar_after_three_loads(int left) {
  Lines lines;
  for (const char* load : {"LDS R4, [R2]", "LDS R5, [R2]", "LDS R6, [R2]"}) lines.push_back(op(load, {.stall = 2, .write = 0}));
  const std::string count = std::to_string(left);
  lines.push_back(op(text({"DEPBAR.LE SB0, 0x", count}), {.stall = 4}, text({"count=", count})));
  return alone(lines).at(3);
}

uint64_t use_of_load(int load) {
  Lines lines;
  for (int l = 0; l < 3; ++l) lines.push_back(op(text({"LDS R", std::to_string(4 + l), ", [R2]"}), {.stall = 2, .write = l}));
  lines.push_back(op("NOP", {.wait = {load}}));
  return alone(lines).at(3);
}

TEST(DependenceCounters, DepbarWaitsForTheCounterToFall) {
  EXPECT_EQ(depbar_after_three_loads(3), 6);
  EXPECT_EQ(depbar_after_three_loads(2), use_of_load(0));
  EXPECT_EQ(depbar_after_three_loads(1), use_of_load(1));
  EXPECT_EQ(depbar_after_three_loads(0), use_of_load(2));
  EXPECT_LT(use_of_load(0), use_of_load(1));
  EXPECT_LT(use_of_load(1), use_of_load(2));
}

TEST(DependenceCounters, DepbarTakesItsThresholdFromTheOperand) {
  const auto issues = alone({op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("LDS R5, [R2]", {.stall = 2, .write = 0}),
                             op("DEPBAR.LE SB0, 0x1", {.stall = 4})});
  EXPECT_EQ(issues.at(2), 24);  // the first load has returned
}

TEST(DependenceCounters, DepbarNeedsStallFourToHoldTheNextInstruction) {
  const auto issues = alone({op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("DEPBAR.LE SB0, 0x0", {.stall = 4}), op("NOP")});
  EXPECT_EQ(issues.at(2), 24 + 4);
}

TEST(StallCount, DependentAdditionsIssueFourApart) {
  EXPECT_EQ(alone(repeat(4, {op("FADD R1, R1, R3", {.stall = 4})})), (std::vector<uint64_t>{0, 4, 8, 12, 16}));
}

// Returns the cycles a NOP in a warp's loop of NOPs with stall count 2. `bytes`: size of the loop.
double cycles_a_nop(uint32_t bytes) {
  constexpr uint32_t kInstructionBytes = 16;
  const int nops = static_cast<int>(bytes / kInstructionBytes) - 1;  // one instruction is the branch
  const auto cycles = [&](uint64_t trips) {
    const Lines lines = loop(trips, join(repeat(nops, {op("NOP", {.stall = 2})}), {op("BRA `(.L_1)", {.stall = 5})}));
    return static_cast<double>(replay(one_sm("b200"), on_one_sub_core("sm_100", {lines})).outcome.total_cycles);
  };
  return (cycles(12) - cycles(4)) / 8 / nops;
}

// Source: cicuvc/nvidia-sass-document, sm100/arch/b200_icache_topology @626bab2b: a B200's cache has 32 KiB. A loop of
// 36 KiB takes 2.70 cycles, since a trip still finds some of its lines: not modelled.
TEST(InstructionCache, LoopsThatExceedItAreFetchedLineByLine) {
  EXPECT_NEAR(cycles_a_nop(30 << 10), 2.0214, 0.03);
  EXPECT_NEAR(cycles_a_nop(31 << 10), 2.0207, 0.03);
  EXPECT_NEAR(cycles_a_nop(40 << 10), 3.0838, 0.05);
  EXPECT_NEAR(cycles_a_nop(48 << 10), 3.0819, 0.05);
}

}  // namespace
}  // namespace warpfold::test
