// Twins: SMs whose CTAs differ in trips alone are replayed once until a last trip, and no result changes
// (ClassRun::Twin).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

using testing::HasSubstr;

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
  // An SM has room for two CTAs at a time.
  return KernelText("loop", "sm_86").options("registers=32 shared_memory=40960").classes(grid).role("warps", 4, lines).kernel();
}

constexpr uint32_t kNoRecurrence = 1U << static_cast<int>(sim::Mechanism::kRecurrence);

// Simulates with and without folding and expects equal outcomes. Returns the report of the folded one.
sim::FoldReport both(const std::vector<sim::Launch>& launches, uint32_t disabled = 0) {
  const sim::Outcome exact = outcome(two_sms(), launches, {.fold = {.mode = sim::FoldMode::kExact, .disabled = disabled}});
  const sim::Outcome off = outcome(two_sms(), launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_EQ(difference(exact, off), "");
  return exact.fold;
}

// Returns the instructions that twins have saved.
uint64_t shared(const traces::Kernel& kernel) {
  const sim::FoldReport fold = both({launch(kernel)}, kNoRecurrence);
  return fold.instructions_of_classes - fold.instructions_replayed;
}

// As in a persistent GEMM: one CTA on each SM, with one tile more on some SMs.
TEST(Twins, OneTripMoreOnOneSmIsAllThatIsReplayedTwice) {
  const traces::Kernel kernel = looping("parameter t\nclass a t=13\nclass b t=12\ngrid a*1 b*1\n");
  EXPECT_GT(shared(kernel), both({launch(kernel)}).instructions_of_classes / 3);
}

TEST(Twins, SkipTogetherWhatRecurs) {
  const sim::FoldReport fold = both({launch(looping("parameter t\nclass a t=30000\nclass b t=29999\ngrid a*1 b*1\n"))});
  EXPECT_EQ(fold.mode, sim::Folded::kExact);
  EXPECT_LT(fold.instructions_replayed, fold.instructions_of_classes / 100);
}

TEST(Twins, AreNoneWhereOneLeavesALoopAtOnceOrEachHasMoreOfAnother) {
  EXPECT_EQ(shared(looping("parameter t\nclass a t=1\nclass b t=2\ngrid a*1 b*1\n")), 0);
  const Lines nest = loop("outer", join(body(), loop("inner", body())));
  const auto nested = [&](const std::string& classes) {
    return looping("parameter outer\nparameter inner\n" + classes + "grid a*1 b*1\n", nest);
  };
  EXPECT_GT(shared(nested("class a outer=5 inner=9\nclass b outer=7 inner=9\n")), 0);
  EXPECT_GT(shared(nested("class a outer=5 inner=9\nclass b outer=5 inner=8\n")), 0);
  EXPECT_EQ(shared(nested("class a outer=5 inner=9\nclass b outer=4 inner=12\n")), 0);
}

// Both SMs get further CTAs while they are twins: first equal ones, then a shorter one on one of the SMs.
TEST(Twins, PartWhereACtaDoesNotFit) {
  const Lines loops = join(loop("t", body()), loop("u", body()));
  EXPECT_GT(shared(looping("parameter t\nparameter u\nclass a t=20 u=90\nclass b t=30 u=90\nclass c t=5 u=30\n"
                           "grid a*1 b*1 c*4 a*1 c*2\n",
                           loops)),
            0);
}

// Beside another launch, whose CTAs are all equal.
TEST(Twins, GoOnBesideOtherLaunches) {
  const traces::Kernel first = looping("parameter t\nclass a t=600\nclass b t=500\ngrid a*1 b*1\n");
  const traces::Kernel other = looping("parameter t\nclass a t=40\ngrid a*9\n");
  const sim::FoldReport fold = both({launch(first), launch(other, 1)}, kNoRecurrence);
  EXPECT_LT(fold.instructions_replayed, fold.instructions_of_classes);
}

// Two SMs that deadlock while they are twins: the report names both.
TEST(Twins, AreBothInADeadlock) {
  const traces::Kernel kernel =
      KernelText("stuck", "sm_86")
          .classes("parameter t\nclass a t=9\nclass b t=8\ngrid a*1 b*1\n")
          .role("early", 2, {op("BAR.SYNC.DEFER_BLOCKING 0x3, 0x80", {}, "barrier=3 count=128")})
          .role("late", 2, join(loop("t", body()), {op("BAR.SYNC.DEFER_BLOCKING 0x4, 0x80", {.stall = 5}, "barrier=4 count=128")}))
          .kernel();
  const sim::Outcome exact = outcome(two_sms(), {launch(kernel)}, {.fold = {.mode = sim::FoldMode::kExact}});
  EXPECT_TRUE(exact.deadlocked);
  EXPECT_THAT(exact.deadlock.report, HasSubstr("SM class 1"));
  both({launch(kernel)});
}

}  // namespace
}  // namespace warpfold::test
