// The cycle log against two other records of the same run: the issue log and the account.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// Warps that stall for each common reason: two kernels share the ALU and the memory queue, and one waits at barriers.
std::vector<traces::Kernel> two_kernels() {
  const Lines math = repeat(6, {op("IADD3 R4, R8, R9, R10"), op("FFMA R12, R13, R14, R15"), op("MUFU.EX2 R5, R6", {.write = 0})});
  const Lines use = {op("FADD R7, R5, R5", {.stall = 4, .wait = {0}}),
                     op("BAR.SYNC.DEFER_BLOCKING 0x0", {.stall = 2}, "barrier=0")};
  const Lines loads = repeat(8, {op("LDS R20, [R2]", {.write = 1})});
  return {on_all_sub_cores("sm_90", 16, loop(20, join(math, use)), "first"),
          on_all_sub_cores("sm_90", 8, loop(30, join(loads, {op("FADD R21, R20, R20", {.stall = 5, .wait = {1}})})), "second")};
}

class CycleLogs : public testing::Test {
 protected:
  sim::Outcome run(sim::CycleLog& log) {
    kernels_ = two_kernels();
    const auto outcome = sim::simulate(one_sm("h100_sxm"), {launch(kernels_[0], 0), launch(kernels_[1], 1)},
                                       {.issue_log = &issues_, .cycle_log = &log});
    EXPECT_TRUE(outcome.has_value());
    std::ranges::stable_sort(log.spans, {}, [](const sim::WarpSpan& span) { return std::pair{span.warp, span.from}; });
    return *outcome;
  }

  std::vector<traces::Kernel> kernels_;
  std::vector<sim::IssueRecord> issues_;
};

TEST_F(CycleLogs, HoldEveryIssueAndNoOther) {
  sim::CycleLog log{.until = sim::kNever};
  run(log);
  std::vector<std::pair<uint64_t, uint64_t>> logged;
  for (const sim::WarpSpan& span : log.spans) {
    if (span.state == sim::WarpState::kSelected) logged.emplace_back(span.from, span.warp);
  }
  std::vector<std::pair<uint64_t, uint64_t>> issued;
  for (const sim::IssueRecord& record : issues_) issued.emplace_back(record.cycle, record.warp);
  std::ranges::sort(logged);
  std::ranges::sort(issued);
  ASSERT_FALSE(issued.empty());
  EXPECT_EQ(logged, issued);
}

TEST_F(CycleLogs, SpansOfAWarpDoNotMeet) {
  sim::CycleLog log{.until = sim::kNever};
  run(log);
  for (size_t i = 1; i < log.spans.size(); ++i) {
    if (log.spans[i].warp == log.spans[i - 1].warp) {
      EXPECT_GE(log.spans[i].from, log.spans[i - 1].until) << i;
    }
  }
}

// A warp's states other than its fixed waits sum to the account's.
TEST_F(CycleLogs, SumToTheAccount) {
  sim::CycleLog log{.until = sim::kNever};
  const sim::Outcome outcome = run(log);
  std::vector<std::array<uint64_t, sim::kWarpStates>> states(2);
  for (const sim::WarpSpan& span : log.spans)
    states[static_cast<size_t>(span.launch)][static_cast<size_t>(span.state)] += span.until - span.from;
  int reasons = 0;
  for (size_t launch = 0; launch < 2; ++launch) {
    for (int s = 0; s < sim::kWarpStates; ++s) {
      const auto state = static_cast<sim::WarpState>(s);
      using enum sim::WarpState;
      if (state == kWait || state == kBranchResolving || state == kDrain) continue;
      const auto index = static_cast<size_t>(s);
      EXPECT_EQ(states[launch][index], outcome.kernels[launch].states[index]) << sim::state_name(state);
      reasons += states[launch][index] > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(reasons, 8);
}

TEST_F(CycleLogs, AWindowHoldsTheSpansThatMeetIt) {
  sim::CycleLog whole{.until = sim::kNever};
  run(whole);
  std::erase_if(whole.spans, [](const sim::WarpSpan& span) { return span.until <= 400 || span.from >= 500; });
  sim::CycleLog window{.from = 400, .until = 500};
  run(window);
  ASSERT_FALSE(window.spans.empty());
  ASSERT_EQ(window.spans.size(), whole.spans.size());
  for (size_t i = 0; i < whole.spans.size(); ++i) {
    EXPECT_EQ(window.spans[i].from, whole.spans[i].from);
    EXPECT_EQ(window.spans[i].state, whole.spans[i].state);
    EXPECT_EQ(window.spans[i].warp, whole.spans[i].warp);
  }
}

}  // namespace
}  // namespace warpfold::test
