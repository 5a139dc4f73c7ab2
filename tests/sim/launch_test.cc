// Time between launches, and early launches, whose CTAs are started before their release.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/machine.h"
#include "tests/support/same_outcome.h"

namespace warpfold::test {
namespace {

// A kernel whose warps issue `length` NOPs of 15 cycles.
traces::Kernel sleeper(const std::string& name, uint64_t ctas, uint64_t length, const std::string& options = "registers=16") {
  return KernelText(name, "sm_90").options(options).ctas(ctas).role("warps", 4, loop(length, {op("NOP", {.stall = 15})})).kernel();
}

constexpr uint64_t kGap = 260;
constexpr uint64_t kCtaLaunch = 100;

configs::Gpu machine() {
  configs::Gpu gpu = one_sm_youngest_first("h100_sxm");
  gpu.set_kernel_launch_cycles(kGap);
  gpu.mutable_sm()->set_cta_launch_cycles(kCtaLaunch);
  return gpu;
}

TEST(Launches, StartTheirCtasOneByOne) {
  const traces::Kernel first = sleeper("first", 1, 40);
  const traces::Kernel second = sleeper("second", 4, 40);
  const Replay run = replay(machine(), {launch(first), launch(second)});
  const uint64_t begin = run.outcome.kernels[0].end_cycle + kGap;
  for (size_t cta = 0; cta < 4; ++cta) EXPECT_EQ(run.warp(4 * cta, 1).front(), begin + kCtaLaunch * cta);
}

TEST(Launches, ThatAreEarlyBeginWithAllCtasAtOnce) {
  const traces::Kernel first = sleeper("first", 1, 40);
  const traces::Kernel second = sleeper("second", 4, 40);
  std::vector<sim::Launch> launches{launch(first), launch(second)};
  launches[1].early = true;
  const Replay run = replay(machine(), launches);
  const uint64_t begin = run.outcome.kernels[0].end_cycle + kGap;
  // Each sub-core has one warp of every CTA and issues one instruction a cycle.
  std::vector<uint64_t> starts;
  for (size_t cta = 0; cta < 4; ++cta) starts.push_back(run.warp(4 * cta, 1).front());
  EXPECT_THAT(starts, testing::UnorderedElementsAre(begin, begin + 1, begin + 2, begin + 3));
}

// Two CTAs fit, and two follow in their places one by one: only CTAs that have room at the release were started before.
TEST(Launches, ThatAreEarlyStartLaterCtasOneByOne) {
  const traces::Kernel first = sleeper("first", 1, 40);
  const traces::Kernel second = sleeper("second", 4, 40, "registers=32 shared_memory=115712");
  std::vector<sim::Launch> launches{launch(first), launch(second)};
  launches[1].early = true;
  const Replay run = replay(machine(), launches);
  const uint64_t begin = run.outcome.kernels[0].end_cycle + kGap;
  EXPECT_EQ(std::min(run.warp(0, 1).front(), run.warp(4, 1).front()), begin);
  EXPECT_EQ(std::max(run.warp(0, 1).front(), run.warp(4, 1).front()), begin + 1);
  EXPECT_EQ(run.warp(12, 1).front(), run.warp(8, 1).front() + kCtaLaunch);
}

// An early CTA does not wait for the start of another launch's CTA that was placed just before.
TEST(Launches, ThatAreEarlyDoNotWaitForAnotherCtasStart) {
  const traces::Kernel first = sleeper("first", 1, 40);
  const traces::Kernel second = sleeper("second", 1, 40);
  const traces::Kernel beside = sleeper("beside", 20, 40);
  std::vector<sim::Launch> launches{launch(first), launch(second), launch(beside, 1)};
  launches[1].early = true;
  const Replay run = replay(machine(), launches);
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, run.outcome.kernels[0].end_cycle + kGap);
}

// Folded and unfolded runs are the same, with epochs and unequal SMs.
TEST(Launches, ThatAreEarlyFoldExactly) {
  configs::Gpu gpu = machine();
  gpu.set_sm_count(5);
  const traces::Kernel first = sleeper("first", 8, 300);
  const traces::Kernel second = sleeper("second", 23, 300);
  const traces::Kernel third = sleeper("third", 9, 200);
  std::vector<sim::Launch> launches{launch(first), launch(second), launch(third), launch(second)};
  for (size_t l = 1; l < launches.size(); ++l) launches[l].early = true;
  const sim::Outcome folded = outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kExact}});
  EXPECT_EQ(difference(folded, outcome(gpu, launches, {.fold = {.mode = sim::FoldMode::kOff}})), "");
  EXPECT_EQ(folded.kernels[1].start_cycle, folded.kernels[0].end_cycle + kGap);
  for (size_t l = 1; l < launches.size(); ++l) launches[l].early = false;
  EXPECT_LT(folded.total_cycles, outcome(gpu, launches, {}).total_cycles);
}

}  // namespace
}  // namespace warpfold::test
