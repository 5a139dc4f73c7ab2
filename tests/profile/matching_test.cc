// The matching with the largest gain, against every choice of pairs.

#include <gmock/gmock.h>

#include <random>

#include "tools/warpfold/run/profile_plan.h"

namespace warpfold::cli {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Matching, TwoPairsMayBeWorthMoreThanTheBestOne) {
  EXPECT_THAT(best_matching(4, {{0, 1, 10}, {1, 2, 12}, {2, 3, 9}}), ElementsAre(0, 2));
  EXPECT_THAT(best_matching(4, {{0, 1, 10}, {1, 2, 30}, {2, 3, 9}}), ElementsAre(1));
}

TEST(Matching, NoGainIsNoPair) {
  EXPECT_THAT(best_matching(3, {{0, 1, 0}, {1, 2, -4}}), IsEmpty());
  EXPECT_THAT(best_matching(0, {}), IsEmpty());
}

double largest(size_t used, const std::vector<Gain>& gains, size_t from) {
  double best = 0;
  for (size_t g = from; g < gains.size(); ++g) {
    const size_t both = size_t{1} << gains[g].one | size_t{1} << gains[g].other;
    if ((used & both) == 0) best = std::max(best, gains[g].gain + largest(used | both, gains, g + 1));
  }
  return best;
}

TEST(Matching, IsTheLargestOfAll) {
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::vector<Gain> gains;
    for (size_t one = 0; one < 7; ++one) {
      for (size_t other = one + 1; other < 7; ++other) gains.push_back({one, other, static_cast<double>(random() % 100) - 20});
    }
    double sum = 0;
    size_t used = 0;
    for (const size_t chosen : best_matching(7, gains)) {
      const size_t both = size_t{1} << gains[chosen].one | size_t{1} << gains[chosen].other;
      EXPECT_EQ(used & both, 0);
      used |= both;
      sum += gains[chosen].gain;
    }
    EXPECT_EQ(sum, largest(0, gains, 0));
  }
}

}  // namespace
}  // namespace warpfold::cli
