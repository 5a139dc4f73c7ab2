// Barriers of a grid: CTAs that wait for each other at a counter in global memory.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/chip/reference.h"
#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kL2 = 260;  // hit_latency_cycles of h100_sxm: from a load's issue to its use

std::string arrive() { return op("ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5", {.stall = 2, .write = 0}, "bytes=32 barrier=0"); }
std::string poll() { return op("LDG.E.STRONG.GPU R6, [R2.64]", {.stall = 2, .write = 1, .wait = {0}}, "bytes=32 barrier=0"); }
// The loop's test, and the branch back to the load.
Lines meet() {
  return {arrive(), poll(), op("ISETP.NE.AND P0, PT, R6, R4, PT", {.stall = 13, .wait = {1}}),
          op("@P0 BRA `(.L_poll)", {.stall = 5})};
}
Lines work(std::string_view trips) { return loop(trips, {op("FFMA R8, R9, R10, R8", {.stall = 4})}); }
Lines passes(uint64_t times, const Lines& lines) { return loop(times, join(lines, {op("BRA `(.L_pass)", {.stall = 5})})); }

configs::Gpu chip(uint32_t sms) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(sms);
  return gpu;
}

// CTAs of one warp, one at a time on an SM. `grid`: their classes.
traces::Kernel meeting(const std::string& grid, const Lines& lines) {
  return KernelText("meet", "sm_90").options("registers=32 shared_memory=120000").classes(grid).role("all", 1, lines).kernel();
}
traces::Kernel meeting_times(uint64_t times, const std::string& grid) {
  return meeting(grid, passes(times, join(work("t"), meet())));
}
const std::string kEqual = "parameter t\nclass a t=3\ngrid a*";
const std::string kUnequal = "parameter t\nclass late t=1000\nclass early t=2\ngrid late*1 early*3\n";

sim::Outcome simulated(const configs::Gpu& gpu, const traces::Kernel& kernel, sim::FoldMode mode, bool all_sms = false) {
  return outcome(gpu, {launch(kernel)}, {.all_sms = all_sms, .fold = {.mode = mode}});
}

TEST(GridBarrier, NobodyPassesBeforeTheLastArrives) {
  configs::Gpu gpu = chip(1);
  const traces::Kernel kernel = KernelText("meet", "sm_90")
                                    .options("registers=32")
                                    .classes("parameter t\nclass early t=2\nclass late t=1000\ngrid early*1 late*1\n")
                                    .role("all", 1, join(work("t"), meet()))
                                    .kernel();
  const Replay run = replay(gpu, kernel);
  ASSERT_FALSE(run.outcome.deadlocked);
  // The last four instructions of a warp: arrival, load, test, branch.
  const auto from_end = [](const std::vector<uint64_t>& issues, size_t place) { return issues.at(issues.size() - place); };
  const std::vector<uint64_t>& early = run.warp(0);
  const std::vector<uint64_t>& late = run.warp(1);
  const uint64_t arrival = from_end(late, 5);
  EXPECT_LT(from_end(early, 5) + 3000, arrival) << "the early CTA has long arrived";
  // After the fence and a trip of the load; at most a period of the loop later.
  EXPECT_GE(from_end(early, 3), arrival + 2 * kL2);
  EXPECT_LE(from_end(early, 3), arrival + 2 * kL2 + (kL2 + 20) + 40);
  EXPECT_GE(from_end(late, 3), arrival + 3 * kL2) << "fence, addition, load";
}

TEST(GridBarrier, AWaitDoesNotDependOnThePhaseOfTheFold) {
  for (const uint64_t sms : {1, 2, 4}) {
    const traces::Kernel kernel = meeting_times(500, kEqual + std::to_string(sms) + "\n");
    const sim::Outcome off = simulated(chip(4), kernel, sim::FoldMode::kOff);
    const sim::Outcome exact = simulated(chip(4), kernel, sim::FoldMode::kExact);
    EXPECT_EQ(difference(off, exact), "");
    EXPECT_EQ(difference(off, simulated(chip(4), kernel, sim::FoldMode::kAuto)), "");
    if (sms == 4) {
      EXPECT_LT(exact.fold.instructions_replayed, exact.fold.instructions_of_classes / 10) << "one class, folded";
    }
  }
}

// Classes of unlike SMs meet: nothing is skipped, nothing is estimated, and the SMs themselves do the same.
TEST(GridBarrier, SmsOfSeveralClassesMeet) {
  const traces::Kernel kernel = meeting_times(20, kUnequal);
  const sim::Outcome off = simulated(chip(4), kernel, sim::FoldMode::kOff);
  ASSERT_FALSE(off.deadlocked);
  EXPECT_GE(off.total_cycles, 20U * (1000 * 4 + 3 * kL2)) << "all wait for the late CTA in every pass";
  const sim::Outcome folded = simulated(chip(4), kernel, sim::FoldMode::kAuto);
  EXPECT_EQ(difference(off, folded), "");
  EXPECT_NE(folded.fold.mode, sim::Folded::kBounded);
  const sim::Outcome each = simulated(chip(4), kernel, sim::FoldMode::kOff, true);
  EXPECT_EQ(off.total_cycles, each.total_cycles);
  const auto plain = sim::reference(*sim::make_spec(chip(4)), {launch(kernel)});
  EXPECT_EQ(plain.at(0).end, off.kernels.at(0).end_cycle);
  EXPECT_EQ(plain.at(0).instructions, off.kernels.at(0).instructions);
}

// An addition to the same sector every 1.45 cycles (integer_addition_cycles of h100_sxm): one after the other for the whole grid,
// whichever of its SMs are simulated.
TEST(GridBarrier, ArrivalsOfTheWholeGridFollowEachOther) {
  const auto cycles = [](uint64_t sms, const std::string& grid) {
    configs::Gpu gpu = chip(132);
    gpu.mutable_sm()->set_cta_launch_cycles(0);
    const traces::Kernel kernel = meeting_times(1, grid);
    const sim::Outcome run = simulated(gpu, kernel, sim::FoldMode::kOff);
    EXPECT_EQ(run.kernels.at(0).ctas, sms);
    return static_cast<double>(run.total_cycles);
  };
  const double lone = cycles(1, kEqual + "1\n");
  EXPECT_NEAR(cycles(132, kEqual + "132\n") - lone, 131 * 1.45, 4);
  EXPECT_NEAR(cycles(66, kEqual + "66\n") - lone, 65 * 1.45, 4);
  // Two classes of SMs, whose CTAs do the same.
  EXPECT_NEAR(cycles(132, "parameter t\nclass a t=3\nclass b t=3\ngrid a*66 b*66\n") - lone, 131 * 1.45, 4);
}

TEST(GridBarrier, AnArrivalWaitsForTheStoresOfItsCta) {
  const auto arrival = [](bool stores) {
    // 512 bytes take eight cycles of the SM's port.
    const Lines store = repeat(20, {op("STG.E.128 [R2.64], R8", {.stall = 2}, "bytes=512")});
    const Lines met = {op("BAR.SYNC.DEFER_BLOCKING 0x0", {.stall = 2}, "barrier=0")};
    const traces::Kernel kernel = KernelText("meet", "sm_90")
                                      .role("leader", 1, join(met, meet()))
                                      .role("other", 1, join(stores ? store : repeat(20, {op("NOP", {.stall = 2})}), met))
                                      .kernel();
    const Replay run = replay(chip(1), kernel);
    return run.warp(0).at(1);
  };
  EXPECT_GE(arrival(true), arrival(false) + 100) << "the other warp's stores are under way";
}

TEST(GridBarrier, AGridThatDoesNotFitIsADeadlock) {
  const sim::Outcome run = simulated(chip(2), meeting_times(3, kEqual + "5\n"), sim::FoldMode::kAuto);
  ASSERT_TRUE(run.deadlocked);
  EXPECT_THAT(run.deadlock.report, AllOf(HasSubstr("reads the counter of the grid's barrier"), HasSubstr("ISETP.NE.AND"),
                                         HasSubstr("2 of 5 CTAs have arrived at the grid's barrier; 2 are resident, 0 have ended"),
                                         HasSubstr("must be resident at a time")));
}

TEST(GridBarrier, ACtaThatMeetsLessOftenIsADeadlock) {
  const traces::Kernel kernel = meeting("parameter t\nclass a t=3\nclass b t=2\ngrid a*1 b*1\n",
                                        loop("t", join(meet(), {op("BRA `(.L_pass)", {.stall = 5})})));
  for (const bool all_sms : {false, true}) {
    const sim::Outcome run = simulated(chip(2), kernel, sim::FoldMode::kOff, all_sms);
    ASSERT_TRUE(run.deadlocked);
    EXPECT_THAT(run.deadlock.report, HasSubstr("1 of 2 CTAs have arrived at the grid's barrier; 1 are resident, 1 have ended"));
  }
}

// Two launches beside each other count their own arrivals.
TEST(GridBarrier, EachLaunchHasItsOwn) {
  const traces::Kernel kernel = KernelText("meet", "sm_90")
                                    .options("registers=32")
                                    .classes(kEqual + "4\n")
                                    .role("all", 1, passes(5, join(work("t"), meet())))
                                    .kernel();
  const std::vector<sim::Launch> launches{launch(kernel, 0), launch(kernel, 1)};
  const sim::Outcome run = outcome(chip(4), launches, {.fold = {.mode = sim::FoldMode::kOff}});
  EXPECT_FALSE(run.deadlocked);
  EXPECT_EQ(difference(run, outcome(chip(4), launches, {.fold = {.mode = sim::FoldMode::kExact}})), "");
}

}  // namespace
}  // namespace warpfold::test
