// The account by role and phase, and by instruction.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::Phase;
using sim::WarpState;
using testing::ElementsAre;

uint64_t state(const sim::SegmentCounters& segment, WarpState state) { return segment.states[static_cast<size_t>(state)]; }

// Returns the phases of one role, in order, with the instructions that they issued.
std::vector<std::pair<Phase, uint64_t>> phases(const Replay& run, uint32_t role) {
  std::vector<std::pair<Phase, uint64_t>> result;
  for (const sim::SegmentCounters& each : run.outcome.kernels[0].segments) {
    if (each.segment.role == role) result.emplace_back(each.segment.phase, state(each, WarpState::kSelected));
  }
  return result;
}

const sim::SegmentCounters& phase(const Replay& run, Phase phase) {
  for (const sim::SegmentCounters& each : run.outcome.kernels[0].segments) {
    if (each.segment.phase == phase) return each;
  }
  throw std::logic_error("no such phase");
}

Replay by_instruction(const traces::Kernel& kernel) {
  return {outcome(one_sm("rtx_a6000"), {launch(kernel)}, {.account = sim::AccountGranularity::kByInstruction}), {}};
}

Lines nops(int count) { return repeat(count, {op("NOP")}); }

TEST(Segments, WhatStandsBeforeAndBehindTheMainLoopIsPrologueAndEpilogue) {
  const Replay run = replay(one_sm("rtx_a6000"), on_all_sub_cores("sm_86", 1, join(join(nops(3), loop(10, nops(2))), nops(4))));
  EXPECT_THAT(phases(run, 0), ElementsAre(std::pair(Phase::kPrologue, 3), std::pair(Phase::kMainLoop, 20),
                                          std::pair(Phase::kEpilogue, 5)));  // with the EXIT
}

TEST(Segments, OfAPersistentLoopComeBackWithEveryTile) {
  const Lines tile = join(join(nops(3), loop(10, nops(2))), nops(4));
  const Replay run = replay(one_sm("rtx_a6000"), on_all_sub_cores("sm_86", 1, join(nops(1), loop(5, tile))));
  EXPECT_THAT(phases(run, 0), ElementsAre(std::pair(Phase::kPrologue, 1 + 5 * 3), std::pair(Phase::kMainLoop, 5 * 20),
                                          std::pair(Phase::kEpilogue, 5 * 4 + 1)));
}

// The trips of all CTAs decide, not those of one class, nor the length of the code.
TEST(Segments, TheMainLoopIsTheOneThatIssuesMost) {
  const traces::Kernel kernel = KernelText("k", "sm_86")
                                    .classes("parameter t\nclass a t=1\nclass b t=40\ngrid a*3 b*2\n")
                                    .role("warps", 1, join(loop(5, nops(6)), loop("t", nops(2))))
                                    .kernel();
  EXPECT_THAT(phases(replay(one_sm("rtx_a6000"), kernel), 0),
              ElementsAre(std::pair(Phase::kPrologue, 5 * 30), std::pair(Phase::kMainLoop, (3 + 2 * 40) * 2),
                          std::pair(Phase::kEpilogue, 5)));
}

TEST(Segments, ARoleWithoutALoopIsAllMainLoop) {
  const traces::Kernel kernel = KernelText("k", "sm_86").role("straight", 1, nops(7)).role("looping", 2, loop(3, nops(4))).kernel();
  const Replay run = replay(one_sm("rtx_a6000"), kernel);
  EXPECT_THAT(phases(run, 0), ElementsAre(std::pair(Phase::kMainLoop, 8)));
  EXPECT_THAT(phases(run, 1), ElementsAre(std::pair(Phase::kMainLoop, 2 * 12), std::pair(Phase::kEpilogue, 2)));
}

TEST(Segments, SumToTheKernel) {
  const Lines mixed = {op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("FFMA R6, R5, R4, R6", {.wait = {0}}),
                       op("IADD3 R1, R2, R3, RZ", {.stall = 4}), op("MUFU.EX2 R5, R4", {.stall = 2})};
  const traces::Kernel kernel =
      KernelText("k", "sm_86").ctas(7).role("a", 3, join(mixed, loop(9, mixed))).role("b", 5, join(loop(4, mixed), mixed)).kernel();
  const auto sums = [](const sim::Outcome& run) {
    std::array<uint64_t, sim::kWarpStates> all{};
    for (const sim::SegmentCounters& each : run.kernels[0].segments) {
      for (size_t s = 0; s < all.size(); ++s) all[s] += each.states[s];
    }
    return all;
  };
  const sim::Outcome by_phase = replay(one_sm("rtx_a6000"), kernel).outcome;
  const sim::Outcome each = by_instruction(kernel).outcome;
  EXPECT_EQ(sums(by_phase), by_phase.kernels[0].states);
  EXPECT_EQ(each.kernels[0].states, by_phase.kernels[0].states);
  EXPECT_EQ(sums(each), by_phase.kernels[0].states);
  EXPECT_EQ(each.ledger, by_phase.ledger);
}

// A wait belongs to the instruction that waits: here the first one after the loop.
TEST(Segments, AWaitIsWhereTheWarpWaits) {
  const Lines load = {op("LDG.E R4, [R2.64]", {.stall = 2, .write = 0}), op("BRA `(.L_1)", {.stall = 5})};
  const Replay run =
      replay(one_sm("rtx_a6000"), on_all_sub_cores("sm_86", 1, join(loop(1, load), {op("MOV R5, R4", {.wait = {0}})})));
  EXPECT_EQ(state(phase(run, Phase::kMainLoop), WarpState::kLongScoreboard), 0);
  EXPECT_GT(state(phase(run, Phase::kEpilogue), WarpState::kLongScoreboard), 20);
  EXPECT_EQ(state(phase(run, Phase::kEpilogue), WarpState::kBranchResolving), 4);
}

TEST(Instructions, EachHasItsIssuesAndItsWaits) {
  const Replay run = by_instruction(on_all_sub_cores(
      "sm_86", 1, loop(10, {op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("MOV R5, R4", {.stall = 6, .wait = {0}})})));
  const auto& code = run.outcome.kernels[0].segments;
  ASSERT_EQ(code.size(), 3);
  for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(code[i].segment.position, i);
  EXPECT_EQ(state(code[0], WarpState::kSelected), 10);
  EXPECT_EQ(state(code[1], WarpState::kSelected), 10);
  EXPECT_EQ(state(code[2], WarpState::kSelected), 1);
  EXPECT_EQ(state(code[0], WarpState::kShortScoreboard), 0);
  EXPECT_EQ(state(code[1], WarpState::kShortScoreboard), 10 * 22);  // 24 cycles to the result, see tests/sim/account_test.cc
  EXPECT_EQ(state(code[1], WarpState::kWait), 10);
  EXPECT_EQ(state(code[0], WarpState::kWait), 9 * 5);
  EXPECT_EQ(state(code[2], WarpState::kWait), 5);
}

// The wait is the barrier's, although the warp's next instruction is already the one after it.
TEST(Instructions, ABarriersWaitIsTheBarriers) {
  const std::string barrier = op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0");
  const Replay run = by_instruction(KernelText("barrier", "sm_86")
                                        .role("early", 1, {barrier, op("NOP")})
                                        .role("late", 3, join(repeat(10, {op("NOP", {.stall = 15})}), {barrier, op("NOP")}))
                                        .kernel());
  const auto& code = run.outcome.kernels[0].segments;
  EXPECT_GE(state(code[0], WarpState::kBarrier), 140);
  EXPECT_EQ(state(code[1], WarpState::kBarrier), 0);
}

}  // namespace
}  // namespace warpfold::test
