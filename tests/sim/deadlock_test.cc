// Deadlocked programs: the report names the warps and the object that each waits for.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string report(const traces::Kernel& kernel) {
  const Replay run = replay(one_sm("h100_sxm"), kernel);
  EXPECT_TRUE(run.outcome.deadlocked);
  return run.outcome.deadlock.report;
}

TEST(Deadlock, AnMbarrierThatNobodyArrivesAt) {
  const traces::Kernel kernel =
      KernelText("gemm", "sm_90")
          .declare("ring full depth=4 arrivals=1")
          .declare("cursor use depth=4")
          .role("producer", 4, {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {}, "barrier=0")})
          .role("consumer", 4,
                {op("NOP"), op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0 cursor=0 advance=1"),
                 op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0 cursor=0 advance=1")})
          .kernel();
  // The producers fill stage 0, and no warp fills stage 1.
  const std::string text = report(kernel);
  EXPECT_THAT(text,
              AllOf(HasSubstr("gemm"), HasSubstr("consumer warp 4"), HasSubstr("consumer warp 7"), HasSubstr("short_scoreboard"),
                    HasSubstr("SYNCS.PHASECHK.TRANS64.TRYWAIT"), HasSubstr("ring full"), HasSubstr("1 arrivals")));
  EXPECT_THAT(text, Not(HasSubstr("producer warp")));
}

TEST(Deadlock, BytesThatNeverCome) {
  const traces::Kernel kernel = KernelText("load", "sm_90")
                                    .declare("ring full depth=1 arrivals=1")
                                    .role("only", 1,
                                          {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {}, "barrier=0 tx_bytes=4096"),
                                           op("UTMALDG.2D [UR8], [UR4]", {}, "bytes=2048 barrier=0"),
                                           op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0")})
                                    .kernel();
  EXPECT_THAT(report(kernel), AllOf(HasSubstr("ring full"), HasSubstr("0 arrivals"), HasSubstr("2048 bytes missing")));
}

TEST(Deadlock, ABarrierWithTooFewWarps) {
  const traces::Kernel kernel =
      KernelText("reduce", "sm_90")
          .role("arrive", 2, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x80", {}, "barrier=3 count=128"), op("NOP")})
          .role("absent", 2, {op("NOP")})
          .kernel();
  const std::string text = report(kernel);
  EXPECT_THAT(text, AllOf(HasSubstr("reduce"), HasSubstr("arrive warp 0"), HasSubstr("arrive warp 1"), HasSubstr("barrier"),
                          HasSubstr("barrier 3, 2 warps have arrived")));
  EXPECT_THAT(text, Not(HasSubstr("absent")));
}

// The report names the barrier as the instruction in which a warp waits, not the next one.
TEST(Deadlock, NamesTheBarrierInstruction) {
  const traces::Kernel kernel =
      KernelText("reduce", "sm_90")
          .role("arrive", 2, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x80", {}, "barrier=3 count=128"), op("NOP")})
          .role("absent", 2, {op("NOP")})
          .kernel();
  EXPECT_THAT(report(kernel), HasSubstr("BAR.SYNC"));
}

// A completed phase of a barrier releases the warps that arrived in it. A warp that arrives before they resume belongs
// to the next phase.
TEST(Deadlock, ABarrierPhaseReleasesItsOwnWarpsOnly) {
  const std::string sync = op("BAR.SYNC.DEFER_BLOCKING 0x1, 0x40", {.stall = 2}, "barrier=1 count=64");
  const traces::Kernel kernel = KernelText("phases", "sm_90")
                                    .role("first", 1, {sync})
                                    .role("arriver", 1, {op("BAR.ARV 0x1, 0x40", {.stall = 6}, "barrier=1 count=64")})
                                    .role("late", 1, {op("NOP", {.stall = 10}), sync})
                                    .kernel();
  const std::string text = report(kernel);
  EXPECT_THAT(text, AllOf(HasSubstr("late warp 2"), HasSubstr("barrier 1, 1 warps have arrived")));
  EXPECT_THAT(text, Not(HasSubstr("first warp")));
}

// One warp gives back 24 registers a thread, enough for one of the seven others.
TEST(Deadlock, SetMaxRegistersNeverOverdrawsThePool) {
  const traces::Kernel kernel =
      KernelText("pool", "sm_90")
          .options("registers=128")
          .role("giver", 1, {op("NOP", {.stall = 15}), op("USETMAXREG.DEALLOC.CTAPOOL 0x68", {.stall = 2}, "count=104")})
          .role("taker", 7, {op("USETMAXREG.TRY_ALLOC.CTAPOOL 0x98", {.stall = 2}, "count=152")})
          .kernel();
  const std::string text = report(kernel);
  size_t waiting = 0;
  for (size_t at = text.find("taker warp"); at != std::string::npos; at = text.find("taker warp", at + 1)) ++waiting;
  EXPECT_EQ(waiting, 6);
}

TEST(Deadlock, TooFewArrivals) {
  const traces::Kernel kernel = KernelText("stuck", "sm_90")
                                    .declare("ring full depth=1 arrivals=2")
                                    .role("one", 1,
                                          {op("SYNCS.ARRIVE.TRANS64 RZ, [R2], R3", {}, "barrier=0"),
                                           op("SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR44], R3", {.stall = 2}, "barrier=0")})
                                    .kernel();
  EXPECT_THAT(report(kernel), HasSubstr("1 arrivals and 0 bytes missing"));
}

TEST(Deadlock, LaunchesBehindADeadlockedOneAreNamed) {
  const traces::Kernel stuck =
      KernelText("stuck", "sm_90")
          .role("arrive", 1, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x40", {}, "barrier=3 count=64"), op("NOP")})
          .role("absent", 1, {op("NOP")})
          .kernel();
  const traces::Kernel next = on_all_sub_cores("sm_90", 1, {op("NOP")}, "next");
  const Replay run = replay(one_sm("h100_sxm"), {launch(stuck), launch(next)});
  ASSERT_TRUE(run.outcome.deadlocked);
  EXPECT_THAT(run.outcome.deadlock.report, HasSubstr("next waits for a launch before it"));
}

TEST(Deadlock, AProgramThatEndsHasNoReport) {
  const Replay run = replay(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 4, {op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0")}));
  EXPECT_FALSE(run.outcome.deadlocked);
  EXPECT_TRUE(run.outcome.deadlock.report.empty());
}

}  // namespace
}  // namespace warpfold::test
