// The operators of launches that a trace records without one.

#include "tools/profile/missing_operators.h"

#include <gmock/gmock.h>

namespace warpfold::profile {
namespace {

using testing::ElementsAre;

constexpr uint32_t kNone = UINT32_MAX;

struct Sequence {
  std::vector<uint32_t> configurations, operators;
};

TEST(MissingOperators, AreThoseOfTheSameConfiguration) {
  Sequence s{{7, 8, 7, 9}, {1, 2, kNone, kNone}};
  EXPECT_EQ(find_missing_operators(s.configurations, kNone, s.operators), 1);
  EXPECT_THAT(s.operators, ElementsAre(1, 2, 1, kNone));
}

// A projection to the same width launches the same grid from 1,024 and from 2,816 columns; the neighbours tell which it is.
TEST(MissingOperators, NeighboursTellOperatorsOfOneConfigurationApart) {
  Sequence s{{5, 7, 5, 6, 7, 6, 5, 7, 5, 6, 7, 6}, {kNone, kNone, kNone, kNone, kNone, kNone, 1, 2, 1, 3, 4, 3}};
  EXPECT_EQ(find_missing_operators(s.configurations, kNone, s.operators), 6);
  EXPECT_THAT(s.operators, ElementsAre(1, 2, 1, 3, 4, 3, 1, 2, 1, 3, 4, 3));
}

TEST(MissingOperators, StayMissingWhereSeveralFit) {
  Sequence s{{7, 7, 9, 7}, {1, 2, 3, kNone}};
  EXPECT_EQ(find_missing_operators(s.configurations, kNone, s.operators), 0);
  EXPECT_EQ(s.operators.back(), kNone);
}

TEST(MissingOperators, OfNoLaunchAreNone) {
  Sequence s;
  EXPECT_EQ(find_missing_operators(s.configurations, kNone, s.operators), 0);
}

}  // namespace
}  // namespace warpfold::profile
