// CTAs go where their resources are: limits, left-over order, reservations.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// A kernel that stays a while: every warp sleeps through `length` NOPs of 15 cycles. Up to 14 warps share a sub-core in peace.
traces::Kernel sleeper(const std::string& name, uint64_t ctas, uint32_t warps, const std::string& options, uint64_t length = 20) {
  return KernelText(name, "sm_90")
      .options(options)
      .ctas(ctas)
      .role("warps", warps, loop(length, {op("NOP", {.stall = 15})}))
      .kernel();
}

// Most warps of a launch resident at once, from first to last issue.
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
  uint32_t ctas;  // an SM of an H100 holds
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

// 65536 registers; 228 KiB of shared memory, 1 KiB of it the system's in each CTA; 64 warps; 32 CTAs.
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

// One-warp CTAs of which shared memory lets four in, one on each sub-core: all of them take the same time.
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
  // Two of the second kernel beside the last two of the first, the others behind.
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

// The kernel in front does not fit, the one behind it would: it waits all the same, in order.
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
  // The carve-out gets two warps; shared memory lets four CTAs in, so two are left to the other kernel.
  const traces::Kernel carved = quarter("carved", 14);
  const traces::Kernel other = quarter("other", 6);
  const Replay run = replay(one_sm("h100_sxm"), {reserve(carved, 0, 2 * 512, 2 * 58368, 2), launch(other, 1)});
  EXPECT_EQ(run.outcome.kernels[0].start_cycle, 0);
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
  EXPECT_EQ(run.outcome.kernels[1].end_cycle, 3 * wave());
  EXPECT_EQ(started_before(run, 0, 3 * wave()), 3 * 2);
  // Alone it takes the whole SM: eight CTAs in two waves.
  EXPECT_EQ(run.outcome.total_cycles, 5 * wave());
  EXPECT_EQ(most_resident(run, 0), 4);
}

TEST(Reservation, KeepsItsShareFreeForItsOwner) {
  // Whatever the order of launches, no other kernel takes the registers of one CTA.
  const traces::Kernel first = sleeper("first", 16, 8, "registers=64");  // 16384 registers a CTA: four fit
  const traces::Kernel owner = sleeper("owner", 4, 8, "registers=64");
  const Replay run = replay(one_sm("h100_sxm"), {launch(first, 0), reserve(owner, 1, 16384, 1024, 8)});
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, 0);
  EXPECT_EQ(most_resident(run, 1), 8);
  EXPECT_EQ(started_before(run, 0, 50), 3 * 8);
}

TEST(Reservation, AnOwnerThatComesLateWaitsForRoom) {
  // 61440 of 65536 registers are taken when the owner of a reservation may start: it does not fit beside them.
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
  // 49 KiB and the system's 1: two of the carve-out in 100 KiB, two others in the 128 KiB that are left.
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

// Unlike a reservation a quota keeps nothing free for its owner.
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

// Two of eight SMs belong to a kernel that leaves no room for ten CTAs of the other kernel. The other kernel's 32 CTAs take a whole
// SM each and go to the first SM with room: five waves on the six other SMs and two more CTAs. The alternative would be four waves
// and a wait for the first kernel's end.
TEST(Dealing, CtasGoToTheFirstSmWithRoom) {
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

// If the other kernel ends early, its SMs take their share from then on: of 64 CTAs, 8 waves of 8, two SMs miss the first two.
TEST(Dealing, SmsThatBecomeFreeTakeTheRest) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(8);
  const traces::Kernel fat = sleeper("fat", 2, 32, "registers=64", 2 * 100);
  const traces::Kernel other = sleeper("other", 60, 32, "registers=64", 100);
  const sim::Cycle wave = outcome(gpu, {launch(sleeper("one", 8, 32, "registers=64", 100))}, {}).total_cycles;
  const sim::Outcome both = outcome(gpu, {launch(fat, 0), launch(other, 1)}, {});
  EXPECT_NEAR(waves(both.kernels[1].end_cycle, wave), 8, 0.1);  // 60 = 6 x 8 + 2 x 6
}

// A warpgroup's four warps lie on four sub-cores; a small CTA goes to the emptiest.
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
