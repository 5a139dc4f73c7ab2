#include "tools/report/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::report {
namespace {

using testing::ElementsAre;

std::vector<uint32_t> ranks_of(const std::vector<configs::Result>& results) {
  std::vector<const configs::Result*> runs;
  for (const configs::Result& result : results) runs.push_back(&result);
  return ranks(runs);
}

configs::Result run(double total, double error_bound) {
  configs::Result result;
  result.set_total_time_us(total);
  result.mutable_fold()->set_error_bound(error_bound);
  return result;
}

TEST(Ranks, CountThoseThatAreFaster) {
  EXPECT_THAT(ranks_of({run(30, 0), run(10, 0), run(20, 0)}), ElementsAre(3, 1, 2));
  EXPECT_THAT(ranks_of({run(30, 0), run(10, 0), run(10, 0)}), ElementsAre(3, 1, 1)) << "the same time is the same place";
  EXPECT_THAT(ranks_of({}), ElementsAre());
}

// 1000 and 1003 are 0.3 % apart: less than twice 0.2 %, more than 0.2 %.
TEST(Ranks, TellRunsApartBeyondTheErrorsOfBoth) {
  EXPECT_THAT(ranks_of({run(1000, 0.002), run(1003, 0.002)}), ElementsAre(1, 1));
  EXPECT_THAT(ranks_of({run(1000, 0.002), run(1003, 0)}), ElementsAre(1, 2));
}

// The middle one is like both, which are unlike each other: what stands above it for certain counts.
TEST(Ranks, AreThoseOfPairs) {
  EXPECT_THAT(ranks_of({run(1000, 0.002), run(1003, 0.002), run(1006, 0.002)}), ElementsAre(1, 1, 2));
}

}  // namespace
}  // namespace warpfold::report
