#include "tools/validation/statistics.h"

#include <gtest/gtest.h>

namespace warpfold::validation {
namespace {

TEST(ErrorStatistics, OfAnEvenNumber) {
  const Errors is = errors_of({-0.10, 0.02, 0.03, 0.25});
  EXPECT_EQ(is.count, 4);
  EXPECT_DOUBLE_EQ(is.mean, 0.10);
  EXPECT_DOUBLE_EQ(is.median, 0.065);
  EXPECT_DOUBLE_EQ(is.p90, 0.25);
  EXPECT_DOUBLE_EQ(is.largest, 0.25);
  EXPECT_DOUBLE_EQ(is.bias, 0.05);
}

TEST(ErrorStatistics, TheNinthOfTenIsTheNinetiethPercentile) {
  std::vector<double> errors;
  for (int i = 10; i > 0; --i) errors.push_back(-0.01 * i);
  const Errors is = errors_of(errors);
  EXPECT_DOUBLE_EQ(is.p90, 0.09);
  EXPECT_DOUBLE_EQ(is.median, 0.055);
  EXPECT_DOUBLE_EQ(is.bias, -0.055);
  EXPECT_EQ(errors_of({}).count, 0);
  EXPECT_DOUBLE_EQ(errors_of({-0.5}).p90, 0.5);
}

}  // namespace
}  // namespace warpfold::validation
