// Epochs: launches that wait for all earlier ones are a run of their own. Its results are the same bits, and equal
// epochs are simulated once.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <iostream>
#include <memory>
#include <set>

#include "sim/plan/epochs.h"
#include "sim/plan/run_cache.h"
#include "sim/sm/make_spec.h"
#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

using sim::Epoch;

// A launch in `stream` that waits for the launches `after`, given by index.
sim::Launch waiting(int stream, std::vector<int> after = {}) {
  sim::Launch launch;
  launch.stream = stream;
  launch.after = std::move(after);
  return launch;
}

TEST(Epochs, EndWhereAllThatComesLaterWaitsForAllBefore) {
  const std::vector<sim::Launch> pair_then_attention = {waiting(0), waiting(1), waiting(0, {1})};
  EXPECT_EQ(sim::epochs_of(pair_then_attention, false), (std::vector<Epoch>{{0, 1}, {2}}));
  EXPECT_EQ(sim::epochs_of(pair_then_attention, true), (std::vector<Epoch>{{0}, {1}, {2}}));
}

TEST(Epochs, FollowWhoIsWaitedForAndNotTheOrderInWhichTheyAreGiven) {
  EXPECT_EQ(sim::epochs_of({waiting(0, {1}), waiting(1), waiting(2, {1})}, false), (std::vector<Epoch>{{1}, {0, 2}}));
  // Waiting for a launch by way of another launch counts.
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0}), waiting(2, {1})}, false), (std::vector<Epoch>{{0}, {1}, {2}}));
}

TEST(Epochs, AreOneWhereSomethingMayGoOn) {
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1), waiting(0)}, false), (std::vector<Epoch>{{0, 1, 2}}));
  // Launches 1 and 2 follow launch 0, and launch 2 may run beside launch 3.
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0}), waiting(2, {0}), waiting(3, {1})}, false),
            (std::vector<Epoch>{{0}, {1, 2, 3}}));
}

// Launches in a circle of dependences never run. One run reports which launch waits for which.
TEST(Epochs, AreOneWhereLaunchesWaitForThemselves) {
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0, 2}), waiting(2, {1})}, false), (std::vector<Epoch>{{0, 1, 2}}));
  EXPECT_EQ(sim::epochs_of({waiting(0, {2}), waiting(1, {0}), waiting(2, {0})}, false), (std::vector<Epoch>{{0, 1, 2}}));
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0, 1})}, false), (std::vector<Epoch>{{0, 1}}));
}

// Makes the last launch, or the last two side by side, or none, wait for all earlier ones.
void follow(Scenario& scenario) {
  const size_t launches = scenario.launches.size();
  const size_t last = between<size_t>(0, 2);
  if (scenario.serialise || launches <= last) return;
  for (size_t l = launches - last; l < launches; ++l) {
    sim::Launch& launch = scenario.launches[l];
    launch.stream = static_cast<int>(10 + l);
    launch.after.clear();
    for (size_t before = 0; before < launches - last; ++before) launch.after.push_back(static_cast<int>(before));
  }
}

// Splits the SMs in two: half of the launches run on either part, in a stream of their own.
void keep_apart(Scenario& scenario) {
  const uint32_t sms = scenario.gpu.sm_count();
  if (sms < 2) return;
  scenario.serialise = false;
  const uint32_t first = between(1U, sms - 1);
  for (size_t l = 0; l < scenario.launches.size(); ++l) {
    sim::Launch& launch = scenario.launches[l];
    static_cast<sim::PlacementBounds&>(launch) = {};
    launch.sms = l % 2 == 0 ? traces::SmRange{0, first} : traces::SmRange{first, sms - first};
    launch.stream = static_cast<int>(l % 2);
    if (!one_in(4)) launch.after.clear();
  }
}

// Appends all launches once more. They wait for one launch of the first set, which others may outlast. Removes all
// bounds.
void repeat(Scenario& scenario) {
  const size_t launches = scenario.launches.size();
  scenario.serialise = false;
  scenario.gpu.set_kernel_launch_cycles(between<uint32_t>(500, 3000));  // time for activity still under way
  for (sim::Launch& launch : scenario.launches) static_cast<sim::PlacementBounds&>(launch) = {};
  const auto behind = static_cast<int>(one_in(2) ? launches - 1 : between<size_t>(0, launches - 1));
  for (size_t l = 0; l < launches; ++l) {
    sim::Launch again = scenario.launches[l];
    again.stream += 100;
    for (int& after : again.after) after += static_cast<int>(launches);
    again.after.push_back(behind);
    scenario.launches.push_back(again);
  }
}

std::string other_work(const sim::Outcome& one, const sim::Outcome& other) {
  for (size_t k = 0; k < one.kernels.size(); ++k) {
    const sim::KernelCounters& a = one.kernels[k];
    const sim::KernelCounters& b = other.kernels[k];
    if (a.ctas != b.ctas || a.instructions != b.instructions || a.l2_bytes != b.l2_bytes)
      return "kernel " + std::to_string(k) + ": work";
  }
  return "";
}

// Names a kernel whose times differ by more than rounding explains; empty if there is none. A class's rate is rounded
// to 1/4096, and the end of a transfer to whole cycles. Times differ in one program of a thousand: in 4,500 programs by
// at most 14 cycles and 1/27,000 of the run (deviation D63).
std::string other_times(const sim::Outcome& one, const sim::Outcome& other) {
  constexpr double kRateRounding = 1.0 / 4096;
  constexpr double kWholeCycles = 2;
  for (size_t k = 0; k < one.kernels.size(); ++k) {
    const sim::KernelCounters& a = one.kernels[k];
    const sim::KernelCounters& b = other.kernels[k];
    const auto length = static_cast<double>(one.total_cycles);
    const double apart = std::abs(static_cast<double>(a.end_cycle) - static_cast<double>(b.end_cycle));
    if (apart > kWholeCycles + kRateRounding * length)
      return "kernel " + std::to_string(k) + " ends at " + std::to_string(a.end_cycle) + " and " + std::to_string(b.end_cycle);
  }
  return "";
}

TEST(RandomEpochs, AreTheRunOfAllLaunchesToTheLastBit) {
  int runs = 0;
  int cut = 0;
  int stopped = 0;
  int repeated = 0;
  int left_idle = 0;
  const bool same = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    bound_machine(scenario);
    if (one_in(2)) scenario.serialise = true;
    if (one_in(3)) RC_LOG(scale_machine(scenario.gpu));
    follow(scenario);
    if (one_in(3)) keep_apart(scenario);
    const bool repeats = scenario.launches.size() > 1 && one_in(2);
    if (repeats) repeat(scenario);
    RC_LOG(scenario.describe());
    sim::Options options{.serialise = scenario.serialise,
                         .fold = {.mode = one_in(2) ? sim::FoldMode::kExact : sim::FoldMode::kOff}};
    if (!repeats && one_in(2)) options.alternative_bounds = {std::vector<sim::PlacementBounds>(scenario.launches.size())};
    const sim::Outcome in_one = outcome(scenario.gpu, scenario.launches, options);
    sim::RunCache known;
    options.run_cache = &known;
    for (int again = 0; again < 2; ++again) {
      sim::Outcome by_epochs = outcome(scenario.gpu, scenario.launches, options);
      by_epochs.sms_simulated = in_one.sms_simulated;  // by epochs, it is the largest number of any epoch
      const std::set<std::shared_ptr<const sim::FoldReport>> made(by_epochs.folds.begin(), by_epochs.folds.end());
      const bool more = by_epochs.folds.size() > sim::epochs_of(scenario.launches, scenario.serialise).size();
      if (again == 0) stopped += more;
      if (again == 0) repeated += more && made.size() < by_epochs.folds.size();
      // In one run, SM classes differ by all launches, so the same SMs may be in more lanes when they meet in memory.
      // Their work is then the same, but rates are rounded differently, and so are transfers' times without other
      // lanes.
      std::string differs = other_work(in_one, by_epochs);
      if (differs.empty() && in_one.sm_classes == 1) differs = difference(in_one, by_epochs);
      if (differs.empty()) differs = other_times(in_one, by_epochs);
      if (!differs.empty()) RC_FAIL(differs);
      for (size_t which = 0; which < in_one.alternative_bounds.size(); ++which) {
        RC_ASSERT(in_one.alternative_bounds[which].same == by_epochs.alternative_bounds[which].same);
        if (in_one.alternative_bounds[which].same)
          RC_ASSERT(in_one.alternative_bounds[which].absent == by_epochs.alternative_bounds[which].absent);
      }
    }
    ++runs;
    cut += sim::epochs_of(scenario.launches, scenario.serialise).size() > 1;
    left_idle += in_one.left_idle;
  });
  std::cout << cut << " of " << runs << " programs have several epochs; " << left_idle << " left an idle GPU, " << stopped
            << " in the middle of an epoch, of which " << repeated << " went on as before\n";
  ASSERT_TRUE(same);
  EXPECT_TRUE(can_be_a_share(cut, runs, 0.15, "have several epochs"));
  EXPECT_TRUE(can_be_a_share(left_idle, runs, 0.15, "leave an idle GPU"));
  EXPECT_TRUE(can_be_a_share(stopped, runs, 0.01, "leave it in the middle of an epoch"));
  EXPECT_TRUE(can_be_a_share(repeated, runs, 0.005, "go on as before"));
}

configs::Gpu launching() {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_kernel_launch_cycles(1000);
  return gpu;
}

traces::Kernel sleeper(const std::string& name, uint32_t warps) {
  return KernelText(name, "sm_90").ctas(3).role("all", warps, loop(50, {op("NOP", {.stall = 10})})).kernel();
}

// The first kernel's quota has no effect on the later epoch: there, as without a quota, a launch with CTAs left holds
// back the next one. The third CTA of the wide kernel holds back the narrow kernel.
TEST(Epochs, ArePartedByTheBoundsOfTheirOwnLaunches) {
  const std::vector<traces::Kernel> kernels = {sleeper("bounded", 4), sleeper("wide", 24), sleeper("narrow", 4)};
  std::vector<sim::Launch> launches = {launch(kernels[0]), launch(kernels[1], 1), launch(kernels[2], 2)};
  launches[0].quota.ctas = 1;
  launches[1].after = {0};
  launches[2].after = {0};
  sim::RunCache known;
  const sim::Outcome in_one = outcome(launching(), launches, {});
  const sim::Outcome by_epochs = outcome(launching(), launches, {.run_cache = &known});
  EXPECT_EQ(difference(in_one, by_epochs), "");
  EXPECT_EQ(by_epochs.folds.size(), 2);
  EXPECT_GT(in_one.kernels[2].start_cycle, in_one.kernels[1].start_cycle + 500);
}

traces::Kernel adder(const std::string& name, uint64_t trips, uint64_t ctas = 3) {
  return KernelText(name, "sm_90").ctas(ctas).role("all", 4, loop(trips, {op("FADD R4, R4, R5", {.stall = 4})})).kernel();
}

// Two kernels side by side, then the same two again. The second set waits for the longer kernel alone, but the shorter
// one has also ended by then. So the second set repeats the first.
TEST(Epochs, EndWhereTheGpuHappensToBeIdle) {
  configs::Gpu gpu = launching();
  gpu.mutable_sub_core()->set_issue_policy(configs::CGGTY);  // with this policy the short kernel ends first
  const std::vector<traces::Kernel> kernels = {adder("long", 90), adder("short", 50), adder("long_again", 90),
                                               adder("short_again", 50), adder("other", 400)};
  std::vector<sim::Launch> launches = {launch(kernels[0]), launch(kernels[1], 1), launch(kernels[2]), launch(kernels[3], 1)};
  launches[3].after = {0};
  ASSERT_EQ(sim::epochs_of(launches, false).size(), 1);
  const auto by_epochs = [&] {
    sim::RunCache known;
    const sim::Outcome in_one = outcome(gpu, launches, {});
    sim::Outcome result = outcome(gpu, launches, {.run_cache = &known});
    EXPECT_EQ(difference(in_one, result), "");
    return result;
  };
  const sim::Outcome same = by_epochs();
  ASSERT_EQ(same.folds.size(), 2);
  EXPECT_EQ(same.folds[0], same.folds[1]);

  launches[3].kernel = &kernels[4];
  const sim::Outcome another = by_epochs();
  ASSERT_EQ(another.folds.size(), 2);
  EXPECT_NE(another.folds[0], another.folds[1]);

  launches[3].quota.ctas = 1;
  EXPECT_EQ(by_epochs().folds.size(), 1) << "a quota parts the SM between all launches";
  launches[3].quota = {};
  launches[3].after = {};
  EXPECT_EQ(by_epochs().folds.size(), 1) << "the second of the short ones begins before the long one has ended";
}

// In one run, CTAs that begin after others go to the SMs that those leave empty. In a run of their own, they would
// begin with the first SM.
TEST(Epochs, GoOnWhereTheRestMightHaveBegunOnOtherSms) {
  configs::Gpu gpu = launching();
  gpu.set_sm_count(3);
  const std::vector<traces::Kernel> kernels = {adder("long", 90), adder("short", 50), adder("single", 50, 1)};
  std::vector<sim::Launch> launches = {launch(kernels[0]), launch(kernels[1], 1), launch(kernels[0], 2), launch(kernels[1], 3)};
  launches[2].after = {0};
  launches[3].after = {0};
  const auto parts = [&] {
    sim::RunCache known;
    const sim::Outcome result = outcome(gpu, launches, {.run_cache = &known});
    EXPECT_EQ(other_times(outcome(gpu, launches, {}), result), "");
    return result.folds.size();
  };
  EXPECT_EQ(parts(), 2) << "3 CTAs of the short one leave no SM empty";
  launches[1].sms = {0, 1};
  launches[3].sms = {0, 1};
  EXPECT_EQ(parts(), 2) << "the short one has an SM of its own";
  launches[1].sms = {};
  launches[3].sms = {};
  launches[1].kernel = launches[3].kernel = &kernels[2];
  EXPECT_EQ(parts(), 2) << "one CTA, which leaves two SMs empty";
}

// If launches take no time, the next launch begins in a cycle that has already run. Whether an SM was pristine before
// that cycle is then unknown.
TEST(Epochs, AreOneWhereLaunchesTakeNoTime) {
  configs::Gpu gpu = launching();
  const std::vector<traces::Kernel> kernels = {adder("first", 90), adder("second", 90)};
  const auto left_idle = [&](sim::FoldMode mode) { return outcome(gpu, {launch(kernels[0])}, {.fold = {.mode = mode}}).left_idle; };
  const auto epochs = [&] {
    sim::RunCache known;
    const std::vector<sim::Launch> launches = {launch(kernels[0]), launch(kernels[1])};
    const sim::Outcome result = outcome(gpu, launches, {.run_cache = &known});
    EXPECT_EQ(difference(result, outcome(gpu, launches, {})), "");
    return result.folds.size();
  };
  EXPECT_TRUE(left_idle(sim::FoldMode::kOff));
  EXPECT_EQ(epochs(), 2);
  gpu.set_kernel_launch_cycles(0);
  EXPECT_FALSE(left_idle(sim::FoldMode::kOff));
  EXPECT_FALSE(left_idle(sim::FoldMode::kExact));
  EXPECT_EQ(epochs(), 1);
}

// Kernels that differ in name alone are the same kernel, whose run alone is simulated once.
TEST(RunCache, AreMadeOnce) {
  const configs::Gpu gpu = launching();
  const std::vector<traces::Kernel> kernels = {adder("one", 50), adder("another", 50), adder("longer", 70)};
  sim::RunCache known;
  int made = 0;
  const auto get = [&](const traces::Kernel& kernel, const sim::Options& options, uint32_t sub_cores = 4) {
    sim::Spec machine;
    machine.sub_cores = sub_cores;
    return known.get(machine, {launch(kernel)}, options, [&] {
      ++made;
      return sim::Outcome{};
    });
  };
  EXPECT_EQ(get(kernels[0], {}), get(kernels[1], {}));
  EXPECT_EQ(made, 1);
  EXPECT_NE(get(kernels[0], {}), get(kernels[2], {}));
  EXPECT_NE(get(kernels[0], {}), get(kernels[0], {.fold = {.mode = sim::FoldMode::kExact}}));
  EXPECT_NE(get(kernels[0], {}), get(kernels[0], {.account = sim::AccountGranularity::kByInstruction}));
  EXPECT_NE(get(kernels[0], {}), get(kernels[0], {}, 2));
  EXPECT_EQ(made, 5);

  const auto chain = outcome(gpu, {launch(kernels[0]), launch(kernels[1]), launch(kernels[2])}, {.run_cache = &known});
  const auto alone = outcome(gpu, {launch(kernels[0])}, {.run_cache = &known});
  EXPECT_EQ(chain.kernels[1].end_cycle - chain.kernels[1].start_cycle, alone.total_cycles);
  EXPECT_EQ(chain.kernels[1].start_cycle, alone.total_cycles + gpu.kernel_launch_cycles());
}

}  // namespace
}  // namespace warpfold::test
