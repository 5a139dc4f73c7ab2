// An SM that comes to a state in which another one was, or itself, goes on from where that led; and nothing else changes.

#include <gtest/gtest.h>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

configs::Gpu sms(uint32_t count) {
  configs::Gpu gpu = one_sm("rtx_a6000");
  gpu.set_sm_count(count);
  gpu.mutable_sm()->set_cta_launch_cycles(7);
  return gpu;
}

Lines body() {
  return {op("FFMA R4, R8, R9, R4", {.stall = 2}), op("IADD3 R5, R10, R11, R12"), op("MUFU.EX2 R6, R7", {.stall = 2, .write = 0}),
          op("FADD R6, R6, R6", {.stall = 5, .wait = {0}})};
}

// CTAs one at a time: a loop of `t` trips, then one of `u`.
traces::Kernel one_at_a_time(const std::string& classes) {
  return KernelText("loops", "sm_86")
      .options("registers=32 shared_memory=90000")
      .classes("parameter t\nparameter u\n" + classes)
      .role("warps", 4, join(loop("t", body()), loop("u", join(body(), body()))))
      .kernel();
}

// Folds and replays, compares, returns what folding says.
sim::FoldReport both(const configs::Gpu& gpu, const std::vector<sim::Launch>& launches, uint64_t waypoints = 40) {
  const sim::Outcome exact = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact, .waypoints = waypoints}});
  const sim::Outcome off = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_EQ(difference(exact, off), "");
  EXPECT_EQ(off.fold.shortcuts, 0);
  EXPECT_LE(exact.fold.instructions_replayed + exact.fold.instructions_shared, exact.fold.instructions_of_classes);
  return exact.fold;
}

sim::FoldReport both(const configs::Gpu& gpu, const std::string& classes) {
  const traces::Kernel kernel = one_at_a_time(classes);
  return both(gpu, {launch(kernel)});
}

// SM 0 runs x, a, a; SM 1 y, a, a: the first a begins later on one of them, in the same state.
TEST(Shortcuts, LeadAlongAnothersWayAtAnotherTime) {
  for (const std::string first : {"class x t=9 u=5\nclass y t=30 u=2\n", "class x t=30 u=2\nclass y t=9 u=5\n"}) {
    const sim::FoldReport fold = both(sms(2), first + "class a t=40 u=60\ngrid x*1 y*1 a*4\n");
    EXPECT_GT(fold.shortcuts, 0);
    EXPECT_GT(fold.instructions_shared, 0);
  }
}

// Two warps go round in 15 and in 16 cycles, together in 240. What is left when whole periods have been skipped is the beginning of
// one more.
TEST(Shortcuts, LeadAlongOnesOwnWay) {
  const auto of_stall = [](int stall, int count) { return loop(3011, repeat(count, {op("FADD R4, R4, R5", {.stall = stall})})); };
  const traces::Kernel kernel =
      KernelText("drift", "sm_86").role("three", 1, of_stall(5, 3)).role("four", 1, of_stall(4, 4)).kernel();
  const uint64_t with = both(sms(1), {launch(kernel)}, 10).instructions_replayed;
  const uint64_t without = both(sms(1), {launch(kernel)}, 1'000'000).instructions_replayed;
  EXPECT_LT(with + 30, without);
}

// a and b differ in the trips of the loop that they are in: the way leads no further than to its end in both.
TEST(Shortcuts, EndWhereALoopWouldHaveEndedElsewhere) {
  for (const std::string classes : {"class a t=40 u=60\nclass b t=50 u=60\n", "class a t=50 u=60\nclass b t=40 u=60\n",
                                    "class a t=40 u=60\nclass b t=40 u=70\n", "class a t=40 u=70\nclass b t=40 u=60\n"}) {
    const sim::FoldReport fold = both(sms(1), classes + "class c t=2 u=3\ngrid a*1 c*1 b*1\n");
    EXPECT_GT(fold.instructions_of_classes, 0);
  }
}

// The next launch begins when this one has ended on both SMs: no way leads past a release, whoever went it before.
TEST(Shortcuts, EndWhereALaunchIsReleased) {
  const traces::Kernel first = one_at_a_time("class x t=9 u=5\nclass y t=30 u=2\nclass a t=40 u=60\ngrid x*1 y*1 a*4\n");
  const traces::Kernel second = one_at_a_time("class a t=20 u=30\ngrid a*6\n");
  const traces::Kernel beside = one_at_a_time("class a t=11 u=100\ngrid a*9\n");
  const sim::FoldReport fold = both(sms(2), {launch(first), launch(second), launch(beside, 1)});
  EXPECT_GT(fold.shortcuts, 0);
}

// What lasts shorter than a copy takes is replayed.
TEST(Shortcuts, AreNotTakenForALittle) {
  const traces::Kernel kernel = one_at_a_time("class x t=9 u=5\nclass y t=30 u=2\nclass a t=40 u=60\ngrid x*1 y*1 a*4\n");
  EXPECT_EQ(both(sms(2), {launch(kernel)}, 0).shortcuts, 0);
}

}  // namespace
}  // namespace warpfold::test
