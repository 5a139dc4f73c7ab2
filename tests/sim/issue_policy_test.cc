// The issue policies alone: candidates in, winner out.
#include "sim/sm/issue_policy.h"

#include <gtest/gtest.h>

namespace warpfold::test {
namespace {

using sim::IssuePolicy;

// CTAs started in slot 0, then in 2 and 3, then in 1. Slot 2 has issued last.
struct FourWarps {
  FourWarps() {
    arbiter.started(0, 0b0000);
    arbiter.started(2, 0b0001);
    arbiter.started(3, 0b0001);
    arbiter.started(1, 0b1101);
    arbiter.issued(2);
  }
  int pick(IssuePolicy policy, sim::WarpMask candidates, bool stays = true, sim::WarpMask urgent = 0b1111) const {
    return arbiter.pick(policy, candidates, stays, [&](sim::WarpMask all) { return all & urgent; });
  }

  sim::IssueArbiter arbiter;
};

TEST(IssueArbiter, GreedyPoliciesStayWithTheWarpOfTheCycleBefore) {
  const FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b1111), 2);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b1111), 2);
}

TEST(IssueArbiter, BehindAGapCggtyTakesTheYoungestCtaAndGtoTheOldest) {
  const FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b1111, false), 1);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b1111, false), 0);
}

TEST(IssueArbiter, OfOneCtaTheWarpThatIssuedLastGoesOnBehindAGap) {
  FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b1100, false), 2);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b1100, false), 2);
  four.arbiter.issued(3);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b1110, false), 3);
}

TEST(IssueArbiter, WithoutTheLastWarpOfACtaCggtyTakesItsHighestSlotAndGtoItsLowest) {
  FourWarps four;
  four.arbiter.issued(0);
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b1100), 3);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b1100), 2);
}

TEST(IssueArbiter, OldestFirstAndRoundRobinDoNotStay) {
  const FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kOldestFirst, 0b0110), 2);
  EXPECT_EQ(four.pick(IssuePolicy::kLrr, 0b0110), 1);
}

TEST(IssueArbiter, SlotPoliciesTakeTheLowestSlotWhateverItsAge) {
  const FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kLowestSlotFirst, 0b0110), 1);
  EXPECT_EQ(four.pick(IssuePolicy::kGreedyThenLowestSlot, 0b0110), 2);
  EXPECT_EQ(four.pick(IssuePolicy::kGreedyThenLowestSlot, 0b0011), 0);
}

TEST(IssueArbiter, KernelPriorityIsCggtyAmongTheMostUrgent) {
  const FourWarps four;
  EXPECT_EQ(four.pick(IssuePolicy::kKernelPriority, 0b0111, true, 0b0011), 1);
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b0111), 2);
}

TEST(IssueArbiter, AWarpThatHasExitedIsNeitherLastNorYounger) {
  FourWarps four;
  four.arbiter.exited(2);
  four.arbiter.started(2, 0b1011);
  four.arbiter.exited(1);
  EXPECT_EQ(four.pick(IssuePolicy::kCggty, 0b0101), 2);
  EXPECT_EQ(four.pick(IssuePolicy::kGto, 0b0101), 0);
}

}  // namespace
}  // namespace warpfold::test
