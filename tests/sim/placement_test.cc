// Placement of CTAs: limits, left-over order, reservations, quotas, ranges of SMs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// A kernel that occupies its room for a while: every warp issues `length` NOPs of 15 cycles. Up to 14 warps share a
// sub-core without delaying each other.
traces::Kernel sleeper(const std::string& name, uint64_t ctas, uint32_t warps, const std::string& options, uint64_t length = 20) {
  return KernelText(name, "sm_90")
      .options(options)
      .ctas(ctas)
      .role("warps", warps, loop(length, {op("NOP", {.stall = 15})}))
      .kernel();
}

// Returns the most warps of a launch that are resident at once, each from its first to its last issue.
uint64_t most_resident(const Replay& run, size_t launch = 0) {
  std::map<uint64_t, int64_t> change;
  for (const auto& warp : run.issues.at(launch)) {
    ++change[warp.front()];
    --change[warp.back() + 1];
  }
  int64_t now = 0;
  int64_t most = 0;
  for (const auto& [cycle, difference] : change) most = std::max(most, now += difference);
  return static_cast<uint64_t>(most);
}

struct Limit {
  std::string limiter;
  std::string options;
  uint32_t warps;
  uint32_t ctas;  // CTAs that an SM of an H100 holds
};

std::string limit_name(const testing::TestParamInfo<Limit>& info) {
  return test_name(text({std::to_string(info.param.warps), " warps ", info.param.options, " by ", info.param.limiter}));
}
std::ostream& operator<<(std::ostream& stream, const Limit& limit) { return stream << limit.options; }

class Occupancy : public testing::TestWithParam<Limit> {};

TEST_P(Occupancy, AsManyAsFit) {
  const Limit& limit = GetParam();
  const Replay run = replay(one_sm_youngest_first("h100_sxm"), sleeper("k", 3 * limit.ctas, limit.warps, limit.options));
  EXPECT_EQ(run.outcome.kernels[0].cta_limit, limit.ctas);
  EXPECT_EQ(run.outcome.kernels[0].cta_limiter, limit.limiter);
  EXPECT_EQ(most_resident(run), uint64_t{limit.ctas} * limit.warps);
}

// An SM has 65536 registers, 228 KiB of shared memory (the system takes 1 KiB for each CTA), 64 warp slots and 32 CTA
// slots.
INSTANTIATE_TEST_SUITE_P(
    H100, Occupancy,
    testing::Values(Limit{"registers", "registers=128", 8, 2}, Limit{"registers", "registers=168", 12, 1},
                    Limit{"registers", "registers=40", 12, 4},                          // 40 x 32 = 1280 a warp: 51 warps
                    Limit{"registers", "registers=33", 4, 12},                          // 33 x 32 = 1056 becomes 1280: 51 warps
                    Limit{"shared_memory", "registers=32 shared_memory=116736", 4, 1},  // 114 KiB and the system's 1
                    Limit{"shared_memory", "registers=32 shared_memory=115712", 4, 2},  // 113 KiB and 1: two fill it
                    Limit{"warp_slots", "registers=16", 16, 4}, Limit{"warp_slots", "registers=16", 5, 8},  // 2 on one sub-core
                    Limit{"cta_slots", "registers=16", 1, 32}),
    limit_name);

TEST(Occupancy, ACtaThatCanNeverFitIsRefused) {
  const traces::Kernel kernel = sleeper("fat", 1, 4, "registers=32 shared_memory=232449");
  const auto outcome = sim::simulate(one_sm("h100_sxm"), {launch(kernel)});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(outcome.error().message, testing::AllOf(testing::HasSubstr("fat"), testing::HasSubstr("232448")));
}

TEST(Occupancy, AKernelOfAnotherArchitectureIsRefused) {
  const traces::Kernel kernel = on_all_sub_cores("sm_80", 1, {op("NOP")}, "older");
  const auto outcome = sim::simulate(one_sm("h100_sxm"), {launch(kernel)});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(outcome.error().message, testing::AllOf(testing::HasSubstr("sm_80"), testing::HasSubstr("sm_90")));
}

// CTAs of one warp. Shared memory has room for four, one on each sub-core, so all of them take the same time.
traces::Kernel quarter(const std::string& name, uint64_t ctas) {
  return sleeper(name, ctas, 1, "registers=16 shared_memory=57344");
}
uint64_t wave() { return replay(one_sm("h100_sxm"), quarter("k", 4)).outcome.total_cycles; }

TEST(LeftOver, ALaterKernelStartsWhenTheEarlierOneHasNoCtasLeftAndThereIsRoom) {
  const Replay run = replay_together(one_sm("h100_sxm"), {quarter("first", 12), quarter("second", 4)});
  EXPECT_EQ(run.outcome.kernels[0].end_cycle, 3 * wave());
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 3 * wave());
  EXPECT_EQ(run.outcome.total_cycles, 4 * wave());
}

TEST(LeftOver, ALaterKernelFillsWhatTheEarlierOneLeaves) {
  const Replay run = replay_together(one_sm("h100_sxm"), {quarter("first", 6), quarter("second", 4)});
  // Two CTAs of the second kernel run beside the last two of the first, the other two follow.
  EXPECT_EQ(run.outcome.kernels[0].end_cycle, 2 * wave());
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, wave());
  EXPECT_EQ(run.outcome.total_cycles, 3 * wave());
}

TEST(LeftOver, PriorityComesBeforeTheOrderWritten) {
  const traces::Kernel low = quarter("low", 8);
  const traces::Kernel high = quarter("high", 4);
  std::vector<sim::Launch> launches = {launch(low, 0), launch(high, 1)};
  launches[1].priority = 5;
  const Replay run = replay(one_sm("h100_sxm"), launches);
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
  EXPECT_EQ(run.outcome.kernels[0].start_cycle, wave());
}

// The first kernel's next CTA does not fit. The second kernel's CTA would fit, but waits for its turn.
TEST(LeftOver, NobodyOvertakesAKernelWithCtasLeft) {
  const traces::Kernel big = sleeper("big", 2, 1, "registers=16 shared_memory=200000");  // one at a time
  const traces::Kernel small = sleeper("small", 1, 1, "registers=16");
  const Replay run = replay_together(one_sm("h100_sxm"), {big, small});
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, wave());
}

TEST(LeftOver, CtaLaunchesAreApart) {
  configs::Gpu gpu = one_sm_youngest_first("h100_sxm");
  gpu.mutable_sm()->set_cta_launch_cycles(100);
  const Replay run = replay(gpu, sleeper("k", 4, 4, "registers=16"));
  for (size_t cta = 0; cta < 4; ++cta) EXPECT_EQ(run.warp(4 * cta).front(), 100 * cta);
}

TEST(LeftOver, APlaceIsFreeAgainAfterATurnaround) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_sm()->set_cta_turnaround_cycles(100);
  const Replay run = replay(gpu, quarter("k", 6));
  for (size_t cta = 4; cta < 6; ++cta) EXPECT_EQ(run.warp(cta).front(), wave() + 100);
  EXPECT_EQ(run.outcome.kernels[0].end_cycle, 2 * (wave() + 100));
}

// ---- reservations

sim::Launch reserve(const traces::Kernel& kernel, int stream, uint32_t registers, uint32_t shared_memory, uint32_t warps) {
  sim::Launch result = launch(kernel, stream);
  result.reserved = true;
  result.reserved_registers = registers;
  result.reserved_shared_memory = shared_memory;
  result.reserved_warps = warps;
  return result;
}

uint64_t started_before(const Replay& run, size_t launch, uint64_t cycle) {
  return static_cast<uint64_t>(
      std::ranges::count_if(run.issues.at(launch), [&](const auto& warp) { return warp.front() < cycle; }));
}

TEST(Reservation, IsNeverExceededWhileOthersRunAndLiftedAfterwards) {
  // The carve-out has room for two CTAs. Shared memory has room for four, so two are left to the other kernel.
  const traces::Kernel carved = quarter("carved", 14);
  const traces::Kernel other = quarter("other", 6);
  const Replay run = replay(one_sm("h100_sxm"), {reserve(carved, 0, 2 * 512, 2 * 58368, 2), launch(other, 1)});
  EXPECT_EQ(run.outcome.kernels[0].start_cycle, 0);
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
  EXPECT_EQ(run.outcome.kernels[1].end_cycle, 3 * wave());
  EXPECT_EQ(started_before(run, 0, 3 * wave()), 3 * 2);
  // Once alone, the owner uses the whole SM: eight CTAs in two waves.
  EXPECT_EQ(run.outcome.total_cycles, 5 * wave());
  EXPECT_EQ(most_resident(run, 0), 4);
}

TEST(Reservation, KeepsItsShareFreeForItsOwner) {
  // The owner comes later in the order, yet no other kernel takes the registers of its CTA.
  const traces::Kernel first = sleeper("first", 16, 8, "registers=64");  // 16384 registers a CTA: four fit
  const traces::Kernel owner = sleeper("owner", 4, 8, "registers=64");
  const Replay run = replay(one_sm("h100_sxm"), {launch(first, 0), reserve(owner, 1, 16384, 1024, 8)});
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
  EXPECT_EQ(most_resident(run, 1), 8);
  EXPECT_EQ(started_before(run, 0, 50), 3 * 8);
}

TEST(Reservation, AnOwnerThatComesLateWaitsForRoom) {
  // When the owner of the reservation may start, 61440 of 65536 registers are taken, so its CTA does not fit.
  const traces::Kernel tiny = sleeper("tiny", 1, 1, "registers=16", 1);
  const traces::Kernel big = sleeper("big", 1, 8, "registers=240");
  const traces::Kernel owner = sleeper("owner", 2, 8, "registers=32");  // 8192 a CTA
  std::vector<sim::Launch> launches = {launch(tiny, 0), launch(big, 1), reserve(owner, 2, 8192, 1024, 8)};
  launches[2].after = {0};
  const Replay run = replay(one_sm("h100_sxm"), launches);
  EXPECT_LT(run.outcome.kernels[1].start_cycle, run.outcome.kernels[0].end_cycle);
  EXPECT_GE(run.outcome.kernels[2].start_cycle, run.outcome.kernels[1].end_cycle);
}

TEST(Reservation, TooSmallForOneCtaIsRefused) {
  const traces::Kernel carved = quarter("carved", 1);
  const traces::Kernel other = quarter("other", 1);
  const auto outcome = sim::simulate(one_sm("h100_sxm"), {reserve(carved, 0, 511, 0, 2), launch(other, 1)});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message,
              testing::HasSubstr(R"("carved" does not fit what is reserved for it: it needs 1 warps, 512 registers)"));
}

TEST(Reservation, BoundsSharedMemory) {
  // A CTA takes 49 KiB and the system's 1 KiB: two of the carve-out fit in 100 KiB, two others in the remaining 128
  // KiB.
  const traces::Kernel carved = sleeper("carved", 8, 4, "registers=32 shared_memory=50176");
  const traces::Kernel other = sleeper("other", 8, 4, "registers=32 shared_memory=50176");
  const Replay run = replay(one_sm("h100_sxm"), {reserve(carved, 0, 16384, 102400, 16), launch(other, 1)});
  EXPECT_EQ(started_before(run, 0, 50), 2 * 4);
  EXPECT_EQ(started_before(run, 1, 50), 2 * 4);
}

// ---- quotas and ranges of SMs

sim::Launch with_quota(const traces::Kernel& kernel, int stream, const sim::SmQuota& quota) {
  sim::Launch result = launch(kernel, stream);
  result.quota = quota;
  return result;
}

TEST(Quota, BoundsWhileOthersAreThereAndIsLiftedAfterwards) {
  const traces::Kernel sliced = quarter("sliced", 14);
  const traces::Kernel other = quarter("other", 6);
  for (const sim::SmQuota quota : {sim::SmQuota{.ctas = 2}, sim::SmQuota{.warps = 2}, sim::SmQuota{.registers = 2 * 512}}) {
    const Replay run = replay(one_sm("h100_sxm"), {with_quota(sliced, 0, quota), launch(other, 1)});
    EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
    EXPECT_EQ(run.outcome.kernels[1].end_cycle, 3 * wave());
    EXPECT_EQ(started_before(run, 0, 3 * wave()), 3 * 2);
    EXPECT_EQ(run.outcome.total_cycles, 5 * wave());
  }
}

// Unlike a reservation, a quota keeps nothing free for its launch.
TEST(Quota, KeepsNobodyOut) {
  const traces::Kernel greedy = quarter("greedy", 8);
  const traces::Kernel sliced = quarter("sliced", 2);
  const Replay run = replay(one_sm("h100_sxm"), {launch(greedy, 0), with_quota(sliced, 1, {.ctas = 1})});
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 2 * wave());
}

TEST(Quota, TooSmallForOneCtaIsRefused) {
  const traces::Kernel sliced = quarter("sliced", 1);
  const auto outcome = sim::simulate(one_sm("h100_sxm"), {with_quota(sliced, 0, {.registers = 511})});
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message,
              testing::HasSubstr(R"("sliced" does not fit its quota: it needs 1 warps and 512 registers)"));
}

TEST(Range, HasTheCtasOfItsLaunchAlone) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(4);
  const traces::Kernel one = quarter("one", 8);
  const traces::Kernel other = quarter("other", 8);
  std::vector<sim::Launch> launches = {launch(one, 0), launch(other, 1)};
  launches[0].sms = {0, 1};
  launches[1].sms = {1, 2};
  const sim::Outcome classes = outcome(gpu, launches, {});
  EXPECT_EQ(classes.sm_classes, 2);
  EXPECT_EQ(classes.kernels[0].end_cycle, 2 * wave());
  EXPECT_EQ(classes.kernels[1].end_cycle, wave());
  const sim::Outcome chip = outcome(gpu, launches, {.all_sms = true});
  EXPECT_EQ(chip.sms_simulated, 3);
  EXPECT_EQ(chip.total_cycles, classes.total_cycles);
}

TEST(Range, OutsideTheChipIsRefused) {
  const traces::Kernel kernel = quarter("k", 1);
  std::vector<sim::Launch> launches = {launch(kernel)};
  launches[0].sms = {0, 2};
  const auto outcome = sim::simulate(one_sm("h100_sxm"), launches);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, R"(kernel "k" is given SMs 0 to 1 of 1)");
}

double waves(sim::Cycle end, sim::Cycle wave) { return static_cast<double>(end) / static_cast<double>(wave); }

// A kernel fills two of eight SMs for the time of ten CTAs of the other kernel. The other kernel has 32 CTAs, each of
// which fills an SM. They go to the first SM with room: five waves on six SMs and two more CTAs. Dealt out beforehand,
// they would take four waves and wait for the first kernel's end.
TEST(CtaQueue, CtasGoToTheFirstSmWithRoom) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(8);
  const traces::Kernel fat = sleeper("fat", 2, 32, "registers=64", 10 * 100);
  const traces::Kernel other = sleeper("other", 32, 32, "registers=64", 100);
  const sim::Outcome alone = outcome(gpu, {launch(other)}, {});
  const sim::Cycle wave = alone.total_cycles / 4;
  std::vector<sim::Launch> launches = {launch(fat, 0), launch(other, 1)};
  for (const bool all_sms : {false, true}) {
    const sim::Outcome both = outcome(gpu, launches, {.all_sms = all_sms});
    EXPECT_NEAR(waves(both.kernels[1].end_cycle, wave), 6, 0.1) << all_sms;
    EXPECT_EQ(both.kernels[1].ctas, 32);
  }
}

// The first kernel ends after the time of two CTAs, and its SMs then take CTAs of the other one: 60 CTAs in 8 waves, of
// which two SMs miss the first two.
TEST(CtaQueue, SmsThatBecomeFreeTakeTheRest) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(8);
  const traces::Kernel fat = sleeper("fat", 2, 32, "registers=64", 2 * 100);
  const traces::Kernel other = sleeper("other", 60, 32, "registers=64", 100);
  const sim::Cycle wave = outcome(gpu, {launch(sleeper("one", 8, 32, "registers=64", 100))}, {}).total_cycles;
  const sim::Outcome both = outcome(gpu, {launch(fat, 0), launch(other, 1)}, {});
  EXPECT_NEAR(waves(both.kernels[1].end_cycle, wave), 8, 0.1);  // 60 = 6 x 8 + 2 x 6
}

// A CTA of one warp goes to the sub-core with the fewest warps.
TEST(SubCores, WarpsAreSpread) {
  std::vector<sim::IssueRecord> log;
  const traces::Kernel kernel = KernelText("k", "sm_90").ctas(4).role("warps", 1, {op("NOP", {.stall = 15})}).kernel();
  ASSERT_TRUE(sim::simulate(one_sm("h100_sxm"), {launch(kernel)}, {.issue_log = &log}).has_value());
  std::map<uint32_t, int> issues;
  for (const sim::IssueRecord& record : log) ++issues[record.sub_core];
  EXPECT_EQ(issues, (std::map<uint32_t, int>{{0, 2}, {1, 2}, {2, 2}, {3, 2}}));
}

}  // namespace
}  // namespace warpfold::test
