// The issue policies by themselves: candidates in, winner out.
#include "sim/sm/issue_policy.h"

#include <gtest/gtest.h>

namespace warpfold::test {
namespace {

using sim::IssuePolicy;

// Warps start in the order of slots 0, 2, 1; slot 2 has issued last.
struct ThreeWarps {
  ThreeWarps() {
    arbiter.started(0, 0b000);
    arbiter.started(2, 0b001);
    arbiter.started(1, 0b101);
    arbiter.issued(2);
  }
  int pick(IssuePolicy policy, sim::WarpMask candidates, sim::WarpMask urgent = 0b111) const {
    return arbiter.pick(policy, candidates, [&](sim::WarpMask all) { return all & urgent; });
  }

  sim::IssueArbiter arbiter{3};
};

TEST(IssueArbiter, GreedyPoliciesStayWithTheLastWarp) {
  const ThreeWarps three;
  EXPECT_EQ(three.pick(IssuePolicy::kCggty, 0b111), 2);
  EXPECT_EQ(three.pick(IssuePolicy::kGto, 0b111), 2);
}

TEST(IssueArbiter, WithoutTheLastWarpCggtyTakesTheYoungestAndGtoTheOldest) {
  const ThreeWarps three;
  EXPECT_EQ(three.pick(IssuePolicy::kCggty, 0b011), 1);
  EXPECT_EQ(three.pick(IssuePolicy::kGto, 0b011), 0);
}

TEST(IssueArbiter, OldestFirstAndRoundRobinDoNotStay) {
  const ThreeWarps three;
  EXPECT_EQ(three.pick(IssuePolicy::kOldestFirst, 0b110), 2);
  EXPECT_EQ(three.pick(IssuePolicy::kLrr, 0b110), 1);
}

TEST(IssueArbiter, SlotPoliciesTakeTheLowestSlotWhateverItsAge) {
  const ThreeWarps three;
  EXPECT_EQ(three.pick(IssuePolicy::kLowestSlotFirst, 0b110), 1);
  EXPECT_EQ(three.pick(IssuePolicy::kGreedyThenLowestSlot, 0b110), 2);
  EXPECT_EQ(three.pick(IssuePolicy::kGreedyThenLowestSlot, 0b011), 0);
}

TEST(IssueArbiter, KernelPriorityIsCggtyAmongTheMostUrgent) {
  const ThreeWarps three;
  EXPECT_EQ(three.pick(IssuePolicy::kKernelPriority, 0b111, 0b011), 1);
  EXPECT_EQ(three.pick(IssuePolicy::kCggty, 0b111, 0b011), 2);
}

TEST(IssueArbiter, AWarpThatHasExitedIsNeitherLastNorYounger) {
  ThreeWarps three;
  three.arbiter.exited(2);
  three.arbiter.started(2, 0b011);
  three.arbiter.exited(1);
  EXPECT_EQ(three.pick(IssuePolicy::kCggty, 0b101), 2);
  EXPECT_EQ(three.pick(IssuePolicy::kGto, 0b101), 0);
}

}  // namespace
}  // namespace warpfold::test
