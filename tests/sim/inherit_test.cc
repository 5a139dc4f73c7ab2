// Inherited losses: a warp waits for a warp or a request that another kernel has delayed.

#include <gtest/gtest.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::WarpState;

// Warp-cycles of a role, all phases.
struct OfRole {
  uint64_t waited = 0;
  uint64_t inherited = 0;
  uint64_t hidden = 0;
  uint64_t undisturbed() const { return waited + hidden - inherited; }
  uint64_t taken = 0;  // cycles that its warps themselves waited for the other kernel
};

OfRole of_role(const Replay& run, uint32_t role, WarpState state) {
  OfRole sum;
  for (const sim::SegmentCounters& each : run.outcome.kernels[0].segments) {
    if (each.segment.role != role) continue;
    sum.waited += each.states[static_cast<size_t>(state)];
    sum.inherited += each.inherited[static_cast<size_t>(state)];
    sum.hidden += each.hidden[static_cast<size_t>(state)];
    for (size_t culprit = 1; culprit < each.lost.size(); ++culprit) {
      for (const uint64_t lost : each.lost[culprit]) sum.taken += lost;
    }
  }
  return sum;
}

const std::string kBarrier = op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0");
Lines busy(uint64_t trips) { return loop(trips, {op("IADD3 R1, R2, RZ, RZ", {.stall = 2})}); }

// The other kernel: a warp on sub-core 0 that takes the ALU for two cycles of five.
traces::Kernel thief(const std::string& architecture, uint64_t trips) {
  return on_one_sub_core(architecture, {loop(trips, {op("IADD3 R1, R2, RZ, RZ", {.stall = 5})})}, "thief");
}

// A CTA whose warps meet at a barrier, after `late` trips of the warp on sub-core 0 and `others` trips of the others.
traces::Kernel meeting(uint64_t late, uint64_t others) {
  return KernelText("meeting", "sm_86")
      .role("late", 1, join(busy(late), {kBarrier}))
      .role("others", 3, join(busy(others), {kBarrier}))
      .kernel();
}

TEST(Inherited, AtABarrierIsWhatTheLastToArriveHasLost) {
  const OfRole alone = of_role(replay(one_sm("rtx_a6000"), meeting(100, 1)), 1, WarpState::kBarrier);
  const Replay run = replay_together(one_sm("rtx_a6000"), {meeting(100, 1), thief("sm_86", 40)});
  const OfRole beside = of_role(run, 1, WarpState::kBarrier);
  EXPECT_EQ(alone.inherited, 0);
  EXPECT_LE(beside.taken, 3) << "but for the EXITs of the thief's idle warps, on other sub-cores";
  EXPECT_GT(beside.inherited, 0);
  EXPECT_EQ(beside.inherited, beside.waited - alone.waited);
}

// A wait, plus hidden and minus inherited cycles, is the wait without the other kernel: whichever role arrives first,
// in the run and alone. The late warp finds the ALU taken by a warp that the issue policy stays with, and goes on when
// that warp has ended.
class Undisturbed : public testing::TestWithParam<uint64_t> {};

TEST_P(Undisturbed, IsTheWaitAlone) {
  const traces::Kernel kernel = KernelText("meeting", "sm_86")
                                    .role("late", 1, join(join({op("NOP", {.stall = 10})}, busy(100)), {kBarrier}))
                                    .role("others", 3, join(busy(GetParam()), {kBarrier}))
                                    .kernel();
  const Replay alone = replay(one_sm("rtx_a6000"), kernel);
  const traces::Kernel greedy = on_one_sub_core("sm_86", {busy(60)}, "greedy");
  const Replay beside = replay_together(one_sm("rtx_a6000"), {kernel, greedy});
  EXPECT_GT(of_role(beside, 0, WarpState::kBarrier).taken, 90);
  for (const uint32_t role : {0U, 1U}) {
    EXPECT_EQ(of_role(beside, role, WarpState::kBarrier).undisturbed(), of_role(alone, role, WarpState::kBarrier).waited)
        << "role " << role;
  }
}

INSTANTIATE_TEST_SUITE_P(EarlyToLate, Undisturbed, testing::Values(1, 90, 104, 106, 120, 150, 200));

// The warp that loses cycles has slack, so no warp waits for it.
TEST(Inherited, IsNothingWhereNobodyWaitsForTheLoser) {
  const Replay run = replay_together(one_sm("rtx_a6000"), {meeting(100, 1000), thief("sm_86", 40)});
  EXPECT_GT(of_role(run, 0, WarpState::kBarrier).taken, 0);
  EXPECT_EQ(of_role(run, 0, WarpState::kBarrier).inherited, 0);
  EXPECT_EQ(of_role(run, 1, WarpState::kBarrier).inherited, 0);
}

// The consumer inherits the producer's losses, stage by stage. The producer waits for empty stages and inherits nothing
// back.
TEST(Inherited, GoesThroughMbarriers) {
  const auto pipeline = [](uint64_t producing, uint64_t consuming) {
    return KernelText("pipeline", "sm_90")
        .declare("ring full depth=2 arrivals=1")
        .declare("ring empty depth=2 arrivals=1 free")
        .declare("cursor fill depth=2")
        .declare("cursor use depth=2")
        .role("producer", 1,
              loop(20, join(join({op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=1 cursor=0")},
                                 busy(producing)),
                            {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=0 cursor=0 advance=1")})))
        .role("consumer", 1,
              loop(20, join(join({op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0 cursor=1")},
                                 busy(consuming)),
                            {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {.stall = 2}, "barrier=1 cursor=1 advance=1")})))
        .role("idle", 2, {})
        .kernel();
  };
  const traces::Kernel beside = thief("sm_90", 800);
  const configs::Gpu gpu = one_sm_youngest_first("h100_sxm");

  const OfRole alone = of_role(replay(gpu, pipeline(100, 10)), 1, WarpState::kShortScoreboard);
  const OfRole slow = of_role(replay_together(gpu, {pipeline(100, 10), beside}), 1, WarpState::kShortScoreboard);
  EXPECT_GT(slow.waited, alone.waited);
  EXPECT_NEAR(static_cast<double>(slow.inherited), static_cast<double>(slow.waited - alone.waited),
              0.05 * static_cast<double>(slow.waited - alone.waited));

  const Replay spare = replay_together(gpu, {pipeline(10, 100), beside});
  EXPECT_GT(of_role(spare, 0, WarpState::kShortScoreboard).taken, 0);
  const OfRole consumer = of_role(spare, 1, WarpState::kShortScoreboard);
  EXPECT_LE(consumer.inherited, 20) << "but for the first stage, the producer has time to spare";
}

// Warps that do not wait for each other still inherit the losses of their own loads.
TEST(Inherited, FromALoadThatWaitedForDram) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_dram()->set_efficiency_percent(100);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(2.0 * gpu.clock_mhz() / 1000);
  const auto loading = [](const std::string& name) {
    return KernelText(name, "sm_90")
        .declare("stream in read dram=1/1")
        .role("warps", 1, {op("LDG.E.128 R4, [R2.64]", {.stall = 2, .write = 0}, "bytes=512 stream=0"), op("NOP", {.wait = {0}})})
        .kernel();
  };
  gpu.mutable_sm()->set_cta_launch_cycles(40);
  const traces::Kernel first = loading("first");
  std::vector<traces::Kernel> kernels = {loading("late"), loading("first")};
  std::vector<sim::Launch> launches = {launch(kernels[0], 0), launch(kernels[1], 1)};
  launches[1].priority = 1;
  const OfRole late = of_role(replay(gpu, launches), 0, WarpState::kLongScoreboard);
  EXPECT_EQ(late.inherited, 512 / 2 - 40);
  EXPECT_EQ(late.taken, 0);
}

}  // namespace
}  // namespace warpfold::test
