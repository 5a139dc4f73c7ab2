// SM classes that begin alike are replayed once until they part, and nothing else changes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

using testing::HasSubstr;

constexpr double kLargeError = 0.05;

Lines body() {
  return {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"), op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}),
          op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
}

configs::Gpu two_sms() {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(2);
  gpu.mutable_sm()->set_cta_launch_cycles(7);
  return gpu;
}

traces::Kernel looping(const std::string& grid, const Lines& lines = loop("t", body())) {
  // Two CTAs at a time.
  return KernelText("loop", "sm_86").options("registers=32 shared_memory=40960").classes(grid).role("warps", 4, lines).kernel();
}

constexpr uint32_t kNoSharing = 1U << static_cast<int>(sim::Mechanism::kCommonPrefix);
constexpr uint32_t kNoSkipping =
    1U << static_cast<int>(sim::Mechanism::kRecurrence) | 1U << static_cast<int>(sim::Mechanism::kMemoHit);

// Folds and replays, compares, returns what folding says.
sim::FoldReport both(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, uint32_t disabled = 0) {
  const sim::Outcome exact = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact, .disabled = disabled}});
  const sim::Outcome off = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff, .disabled = kNoSharing}});
  EXPECT_EQ(difference(exact, off), "");
  EXPECT_EQ(exact.fold.instructions_of_classes, off.fold.instructions_of_classes);
  EXPECT_EQ(off.fold.instructions_replayed + off.fold.instructions_shared, off.fold.instructions_of_classes)
      << "a full replay shares what SMs do before they part, and skips nothing";
  return exact.fold;
}

sim::FoldReport both(const traces::Kernel& kernel, uint32_t disabled = 0) { return both(two_sms(), {launch(kernel)}, disabled); }

// Each SM's CTAs on a chip of one SM.
uint64_t replayed_alone(const std::string& grid, uint32_t disabled = 0) {
  configs::Gpu gpu = two_sms();
  gpu.set_sm_count(1);
  const traces::Kernel kernel = looping(grid);
  return both(gpu, {launch(kernel)}, disabled).instructions_replayed;
}

TEST(Sharing, OneCtaMoreOnOneSmIsAllThatIsReplayedTwice) {
  const sim::FoldReport fold = both(looping("parameter t\nclass a t=40\ngrid a*25\n"), kNoSkipping);
  const uint64_t of_12 = replayed_alone("parameter t\nclass a t=40\ngrid a*12\n", kNoSkipping);
  const uint64_t of_13 = replayed_alone("parameter t\nclass a t=40\ngrid a*13\n", kNoSkipping);
  EXPECT_GT(fold.instructions_shared, 0);
  EXPECT_LT(fold.instructions_replayed, of_12 + of_13);
}

// As a persistent GEMM has one CTA an SM, with a tile more on some.
TEST(Sharing, OneTripMoreOnOneSmIsAllThatIsReplayedTwice) {
  const sim::FoldReport fold = both(looping("parameter t\nclass a t=13\nclass b t=12\ngrid a*1 b*1\n"), kNoSkipping);
  EXPECT_GE(fold.instructions_shared, fold.instructions_of_classes / 3);
  const uint64_t of_13 = replayed_alone("parameter t\nclass a t=13\ngrid a*1\n", kNoSkipping);
  const uint64_t of_12 = replayed_alone("parameter t\nclass b t=12\ngrid b*1\n", kNoSkipping);
  EXPECT_LT(fold.instructions_replayed, of_12 + of_13);
}

TEST(Sharing, WhatRecursIsSkippedForAllAtOnce) {
  const sim::FoldReport fold = both(looping("parameter t\nclass a t=30000\nclass b t=29999\ngrid a*1 b*1\n"));
  EXPECT_EQ(fold.mode, sim::Folded::kExact);
  EXPECT_GT(fold.instructions_shared, 0);
  // After the skip each has a few trips of its own.
  EXPECT_LT(fold.instructions_replayed + fold.instructions_shared, 3 * replayed_alone("parameter t\nclass a t=30000\ngrid a*1\n"));
}

TEST(Sharing, ALoopThatOneLeavesAtOnceIsNotShared) {
  const sim::FoldReport fold = both(looping("parameter t\nclass a t=1\nclass b t=2\ngrid a*1 b*1\n"));
  EXPECT_EQ(fold.instructions_shared, 0);
  EXPECT_EQ(fold.mode, sim::Folded::kNone);
}

TEST(Sharing, InNestedLoopsTheyPartAtTheFirstEndThatDiffers) {
  const Lines nest = loop("outer", join(body(), loop("inner", body())));
  for (const std::string classes :
       {"class a outer=5 inner=9\nclass b outer=7 inner=9\n", "class a outer=5 inner=9\nclass b outer=5 inner=8\n",
        "class a outer=5 inner=9\nclass b outer=4 inner=12\n"}) {
    const sim::FoldReport fold = both(looping("parameter outer\nparameter inner\n" + classes + "grid a*1 b*1\n", nest));
    const bool one_has_less = classes.find("outer=4") == std::string::npos;
    EXPECT_EQ(fold.instructions_shared > 0, one_has_less) << classes;
  }
}

// SM 0 receives a a a b a, SM 1 a a a c a: in b's place c has fewer trips and more of another loop.
TEST(Sharing, EndsBeforeTheFirstCtaOfAnotherKind) {
  const Lines loops = join(loop("t", body()), loop("u", body()));
  const sim::FoldReport fold =
      both(looping("parameter t\nparameter u\nclass a t=20 u=20\nclass b t=30 u=5\nclass c t=5 u=30\n"
                   "grid a*6 b*1 c*1 a*2\n",
                   loops));
  EXPECT_GT(fold.instructions_shared, 0);
}

// What the leader has seen of a is not what the follower has been through, whose first CTA was b; though later it comes to the
// same.
TEST(Sharing, StatesWithOtherCtasAreTheLeadersAlone) {
  std::string grid = "parameter t\nclass a t=300\nclass b t=340\nclass c t=100\ngrid a*1 b*1";
  for (int i = 0; i < 20; ++i) grid += " c*4 a*2";
  const traces::Kernel kernel = KernelText("loop", "sm_86")
                                    .options("registers=32 shared_memory=90112")
                                    .classes(grid + "\n")
                                    .role("warps", 4, loop("t", body()))
                                    .kernel();
  EXPECT_GT(both(kernel).instructions_shared, 0);
}

// b stands for a's follower and for itself: then what recurs for one SM need not for the other.
TEST(Sharing, AClassStandsForOneOtherOnly) {
  both(looping("parameter t\nclass a t=300\nclass b t=301\ngrid a*2 a*1 b*1 a*40 b*1 a*1 a*40\n"));
}

// SMs 0 and 1 have 9 and 8 CTAs of one kernel, 5 and 4 of the next: three SMs part at two places.
TEST(Sharing, ThreeClassesPartOneAfterTheOther) {
  configs::Gpu gpu = two_sms();
  gpu.set_sm_count(3);
  const traces::Kernel first = looping("parameter t\nclass a t=50\ngrid a*26\n");
  const traces::Kernel next = looping("parameter t\nclass a t=30\ngrid a*13\n");
  const sim::FoldReport fold = both(gpu, {launch(first), launch(next)});
  EXPECT_GT(fold.instructions_shared, fold.instructions_replayed / 2) << fold.instructions_replayed;
}

// A launch released by the other's end, which is later on one of the SMs: before it they have parted.
TEST(Sharing, ALaunchThatWaitsIsReleasedByTheLastOne) {
  const traces::Kernel first = looping("parameter t\nclass a t=60\nclass b t=50\ngrid a*1 b*1\n");
  const traces::Kernel next = looping("parameter t\nclass a t=30\ngrid a*9\n");
  sim::Launch after = launch(next);
  after.stream = 1;
  after.after = {0};
  EXPECT_GT(both(two_sms(), {launch(first), after}).instructions_shared, 0);
}

// SMs meet where a launch begins some time after the one before it.
configs::Gpu with_launch_latency(uint32_t sms) {
  configs::Gpu gpu = two_sms();
  gpu.set_sm_count(sms);
  gpu.set_kernel_launch_cycles(500);
  return gpu;
}

// What the SMs did before makes no difference where they have all come to the same state: of `next`, and of the one behind it, each
// SM has the same to do, and only in `first` they part.
TEST(Sharing, ClassesThatHavePartedMeetAgain) {
  const traces::Kernel first = looping("parameter t\nclass a t=60\nclass b t=50\ngrid a*1 b*1\n");
  const traces::Kernel next = looping("parameter t\nclass a t=90\ngrid a*10\n");
  const sim::FoldReport of_first = both(with_launch_latency(2), {launch(first)});
  const sim::FoldReport fold = both(with_launch_latency(2), {launch(first), launch(next), launch(next)});
  EXPECT_GT(fold.instructions_replayed, of_first.instructions_replayed);
  EXPECT_EQ(fold.instructions_shared - of_first.instructions_shared, fold.instructions_replayed - of_first.instructions_replayed);
}

// They may part a second time, and the one that led may follow.
TEST(Sharing, WhatAClassDidBeforeItMetTheOthersIsItsOwn) {
  const configs::Gpu gpu = with_launch_latency(3);
  const traces::Kernel first = looping("parameter t\nclass a t=60\nclass b t=50\ngrid a*2 b*1\n");
  const traces::Kernel second = looping("parameter t\nclass a t=40\nclass b t=41\nclass c t=42\ngrid c*1 a*1 b*1\n");
  const traces::Kernel third = looping("parameter t\nclass a t=30000\nclass b t=29900\ngrid a*1 b*2\n");
  EXPECT_GT(both(gpu, {launch(first), launch(second), launch(third), launch(second)}).instructions_shared, 0);
}

// Warps of another launch that are in the same state as well are no hindrance; those in another state are.
TEST(Sharing, ClassesMeetBesideWarpsThatRun) {
  const traces::Kernel beside = KernelText("beside", "sm_86")
                                    .options("registers=32 shared_memory=1024")
                                    .classes("parameter t\nclass a t=900\ngrid a*2\n")
                                    .role("warps", 4, loop("t", body()))
                                    .kernel();
  const traces::Kernel next = looping("parameter t\nclass a t=90\ngrid a*10\n");
  sim::Launch other = launch(beside);
  other.stream = 1;
  for (const std::string first : {"class a t=60\nclass b t=60\n", "class a t=60\nclass b t=50\n"})
    both(with_launch_latency(2), {launch(looping("parameter t\n" + first + "grid a*1 b*1\n")), launch(next), other});
}

// Of `first` SM 0 has two CTAs at a time, which a quota of one would not let it have. At `next`, of which it has one more, it meets
// SM 1 and follows it, while SM 2 still runs.
TEST(Sharing, WhatOtherBoundsWouldHaveChangedBeforeTheClassesMetIsNotForgotten) {
  const traces::Kernel first = looping("parameter t\nclass a t=60\nclass b t=40\ngrid a*3 b*1\n");
  const traces::Kernel next = looping("parameter t\nclass a t=90\ngrid a*16\n");
  const traces::Kernel beside = KernelText("beside", "sm_86")
                                    .options("registers=32 shared_memory=1024")
                                    .classes("parameter t\nclass a t=10\nclass b t=9000\ngrid a*2 b*1\n")
                                    .role("warps", 4, loop("t", body()))
                                    .kernel();
  sim::Launch other = launch(beside);
  other.stream = 1;
  std::vector<sim::PlacementBounds> bounds(3);
  bounds[0].quota.ctas = 1;
  const sim::Outcome run = outcome(with_launch_latency(3), {launch(first), launch(next), other},
                                   {.fold = {.mode = sim::FoldMode::kExact}, .alternative_bounds = {bounds}});
  EXPECT_GT(run.fold.instructions_shared, 0);
  EXPECT_FALSE(run.alternative_bounds[0].same);
}

// By rates (docs/sampling.md), with an error so large and a patience so short that few instructions need be measured.
sim::Outcome by_rates(const std::vector<sim::Launch>& launches) {
  return outcome(with_launch_latency(2), launches,
                 {.fold = {.mode = sim::FoldMode::kAuto, .error = kLargeError, .sampling_delay = 1000}});
}

// Warps of two kinds, too many to come back to the same state soon.
traces::Kernel crowd(const std::string& grid) {
  const Lines long_body = join(join(body(), body()),
                               {op("MUFU.EX2 R6, R7", {.stall = 3, .write = 1}), op("FADD R6, R6, R6", {.stall = 5, .wait = {1}})});
  return KernelText("crowd", "sm_86")
      .options("registers=32 shared_memory=1024")
      .classes("parameter t\n" + grid)
      .role("short", 7, loop("t", body()))
      .role("long", 9, loop("t", long_body))
      .kernel();
}

std::set<std::pair<uint64_t, uint64_t>> jumps_of(const sim::Outcome& run, uint32_t sm_class) {
  std::set<std::pair<uint64_t, uint64_t>> jumps;  // cycles of a period and how often
  for (const sim::FoldedPeriod& period : run.fold.periods) {
    if (period.sm_class == sm_class && !period.exact) jumps.emplace(period.cycles, period.repeats);
  }
  return jumps;
}

// Classes that have parted meet, and what is left of `next` is the same for both: one jump by rates moves both on, and nothing is
// replayed twice. Every kernel keeps its instructions, which the run checks, and its cycles to within the error.
TEST(Sharing, ClassesThatHaveMetJumpTogether) {
  const traces::Kernel first = looping("parameter t\nclass a t=60\nclass b t=50\ngrid a*1 b*1\n");
  const traces::Kernel next = crowd("class a t=30000\ngrid a*6\n");
  const std::vector<sim::Launch> launches{launch(first), launch(next)};
  const sim::Outcome run = by_rates(launches);
  const sim::Outcome of_first = by_rates({launch(first)});
  const sim::Outcome off = outcome(with_launch_latency(2), launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_EQ(run.fold.mode, sim::Folded::kBounded);
  EXPECT_EQ(run.sms_simulated, 2);
  EXPECT_FALSE(jumps_of(run, 0).empty());
  EXPECT_EQ(jumps_of(run, 0), jumps_of(run, 1));
  EXPECT_EQ(run.fold.instructions_shared - of_first.fold.instructions_shared,
            run.fold.instructions_replayed - of_first.fold.instructions_replayed);
  EXPECT_EQ(run.fold.instructions_of_classes, off.fold.instructions_of_classes);
  for (size_t k = 0; k < launches.size(); ++k) {
    EXPECT_EQ(run.kernels[k].instructions, off.kernels[k].instructions);
    const auto cycles = static_cast<double>(off.kernels[k].end_cycle - off.kernels[k].start_cycle);
    EXPECT_NEAR(static_cast<double>(run.kernels[k].end_cycle - run.kernels[k].start_cycle), cycles, kLargeError * cycles);
  }
}

TEST(Sharing, CtasThatAreAllPlacedInOneCycleAreNotShared) {
  configs::Gpu gpu = two_sms();
  gpu.mutable_sm()->set_cta_launch_cycles(0);
  EXPECT_EQ(both(gpu, {launch(looping("parameter t\nclass a t=40\nclass b t=41\ngrid a*25 b*1\n"))}).instructions_shared, 0);
}

// Two that hang before they part: the report names both.
TEST(Sharing, ADeadlockIsEverybodys) {
  const traces::Kernel kernel =
      KernelText("stuck", "sm_86")
          .classes("parameter t\nclass a t=9\nclass b t=8\ngrid a*1 b*1\n")
          .role("early", 2, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x80", {}, "barrier=3 count=128")})
          .role("late", 2, join(loop("t", body()), {op("BAR.SYNC.DEFER_BLOCKING 0x4, 0x80", {.stall = 5}, "barrier=4 count=128")}))
          .kernel();
  const sim::Outcome exact = outcome(two_sms(), {launch(kernel)}, {.fold = {.mode = sim::FoldMode::kExact}});
  EXPECT_TRUE(exact.deadlocked);
  EXPECT_THAT(exact.deadlock.report, HasSubstr("SM class 1"));
  both(two_sms(), {launch(kernel)});
}

}  // namespace
}  // namespace warpfold::test
