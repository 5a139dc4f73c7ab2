// Where launches wait for all before them, what comes after is a run of its own: the same to the last bit, and made once.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <iostream>

#include "sim/gpu/epochs.h"
#include "sim/gpu/known_runs.h"
#include "tests/support/random_programs.h"
#include "tests/support/same_outcome.h"
#include "tests/support/share.h"

namespace warpfold::test {
namespace {

using sim::Epoch;

// Waits for those named, by index.
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
  // What is waited for by way of another counts.
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0}), waiting(2, {1})}, false), (std::vector<Epoch>{{0}, {1}, {2}}));
}

TEST(Epochs, AreOneWhereSomethingMayGoOn) {
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1), waiting(0)}, false), (std::vector<Epoch>{{0, 1, 2}}));
  // Of two that follow a third, one goes on beside a fourth.
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0}), waiting(2, {0}), waiting(3, {1})}, false),
            (std::vector<Epoch>{{0}, {1, 2, 3}}));
}

// They never run; who waits for whom is found out in one run.
TEST(Epochs, AreOneWhereLaunchesWaitForThemselves) {
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0, 2}), waiting(2, {1})}, false), (std::vector<Epoch>{{0, 1, 2}}));
  EXPECT_EQ(sim::epochs_of({waiting(0, {2}), waiting(1, {0}), waiting(2, {0})}, false), (std::vector<Epoch>{{0, 1, 2}}));
  EXPECT_EQ(sim::epochs_of({waiting(0), waiting(1, {0, 1})}, false), (std::vector<Epoch>{{0, 1}}));
}

// Some launches wait for all before them: the last one, or the last two, which are side by side then.
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

TEST(RandomEpochs, AreTheRunOfAllLaunchesToTheLastBit) {
  int runs = 0;
  int cut = 0;
  int left_idle = 0;
  const bool same = rc::check([&] {
    Scenario scenario = any_recurring_scenario();
    bound_machine(scenario);
    if (one_in(2)) scenario.serialise = true;
    if (one_in(3)) RC_LOG(scale_machine(scenario.gpu));
    follow(scenario);
    RC_LOG(scenario.describe());
    sim::Options options{.serialise = scenario.serialise,
                         .fold = {.mode = one_in(2) ? sim::FoldMode::kExact : sim::FoldMode::kOff}};
    if (one_in(2)) options.other_bounds = {std::vector<sim::PlacementBounds>(scenario.launches.size())};
    const sim::Outcome in_one = outcome(scenario.gpu, scenario.launches, options);
    sim::KnownRuns known;
    options.known = &known;
    for (int again = 0; again < 2; ++again) {
      sim::Outcome by_epochs = outcome(scenario.gpu, scenario.launches, options);
      by_epochs.sms_simulated = in_one.sms_simulated;  // the most of any epoch, and not of all launches
      const std::string differs = difference(in_one, by_epochs);
      if (!differs.empty()) RC_FAIL(differs);
      for (size_t which = 0; which < in_one.other_bounds.size(); ++which) {
        RC_ASSERT(in_one.other_bounds[which].same == by_epochs.other_bounds[which].same);
        if (in_one.other_bounds[which].same) RC_ASSERT(in_one.other_bounds[which].absent == by_epochs.other_bounds[which].absent);
      }
    }
    ++runs;
    cut += sim::epochs_of(scenario.launches, scenario.serialise).size() > 1;
    left_idle += in_one.left_idle;
  });
  std::cout << cut << " of " << runs << " programs have several epochs; " << left_idle << " left an idle GPU\n";
  ASSERT_TRUE(same);
  EXPECT_TRUE(can_be_a_share(cut, runs, 0.15, "have several epochs"));
  EXPECT_TRUE(can_be_a_share(left_idle, runs, 0.15, "leave an idle GPU"));
}

traces::Kernel sleeper(const std::string& name, uint32_t warps) {
  return KernelText(name, "sm_90").ctas(3).role("all", warps, loop(50, {op("NOP", {.stall = 10})})).kernel();
}

// A quota of the first lets those behind it place what fits past each other no more than if it had never been: the third CTA of
// the wide one holds the narrow one back.
TEST(Epochs, ArePartedByTheBoundsOfTheirOwnLaunches) {
  const std::vector<traces::Kernel> kernels = {sleeper("bounded", 4), sleeper("wide", 24), sleeper("narrow", 4)};
  std::vector<sim::Launch> launches = {launch(kernels[0]), launch(kernels[1], 1), launch(kernels[2], 2)};
  launches[0].quota.ctas = 1;
  launches[1].after = {0};
  launches[2].after = {0};
  sim::KnownRuns known;
  const sim::Outcome in_one = outcome(one_sm("h100_sxm"), launches, {});
  const sim::Outcome by_epochs = outcome(one_sm("h100_sxm"), launches, {.known = &known});
  EXPECT_EQ(difference(in_one, by_epochs), "");
  EXPECT_EQ(by_epochs.folds.size(), 2);
  EXPECT_GT(in_one.kernels[2].start_cycle, in_one.kernels[1].start_cycle + 500);
}

traces::Kernel adder(const std::string& name, uint64_t trips) {
  return KernelText(name, "sm_90").ctas(3).role("all", 4, loop(trips, {op("FADD R4, R4, R5", {.stall = 4})})).kernel();
}

// Kernels with other names are the same kernels; what they did alone they do again behind another.
TEST(KnownRuns, AreMadeOnce) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const std::vector<traces::Kernel> kernels = {adder("one", 50), adder("another", 50), adder("longer", 70)};
  sim::KnownRuns known;
  int made = 0;
  const auto get = [&](const traces::Kernel& kernel, const sim::Options& options) {
    return known.get("gpu", {launch(kernel)}, options, [&] {
      ++made;
      return sim::Outcome{};
    });
  };
  EXPECT_EQ(get(kernels[0], {}), get(kernels[1], {}));
  EXPECT_EQ(made, 1);
  EXPECT_NE(get(kernels[0], {}), get(kernels[2], {}));
  EXPECT_NE(get(kernels[0], {}), get(kernels[0], {.fold = {.mode = sim::FoldMode::kExact}}));
  EXPECT_NE(get(kernels[0], {}), get(kernels[0], {.account = sim::AccountGranularity::kByInstruction}));
  EXPECT_EQ(made, 4);

  const auto chain = outcome(gpu, {launch(kernels[0]), launch(kernels[1]), launch(kernels[2])}, {.known = &known});
  const auto alone = outcome(gpu, {launch(kernels[0])}, {.known = &known});
  EXPECT_EQ(chain.kernels[1].end_cycle - chain.kernels[1].start_cycle, alone.total_cycles);
  EXPECT_EQ(chain.kernels[1].start_cycle, alone.total_cycles + gpu.kernel_launch_cycles());
}

}  // namespace
}  // namespace warpfold::test
