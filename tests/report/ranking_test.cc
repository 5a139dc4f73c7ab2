#include "tools/report/ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>

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

struct Part {
  uint32_t number;
  uint64_t cycles;
  double error_bound;
};

// At 1,000 cycles a microsecond unless `mhz` says otherwise.
configs::Result run_of(uint64_t cycles, const std::vector<Part>& estimated, double mhz = 1000) {
  configs::Result result;
  result.set_total_cycles(cycles);
  result.set_total_time_us(static_cast<double>(cycles) / mhz);
  configs::Fold& fold = *result.mutable_fold();
  fold.set_total_error_bound(0);  // known
  for (const Part& part : estimated) {
    configs::EstimatedRun& each = *fold.add_estimated();
    each.set_run(part.number);
    each.set_cycles(part.cycles);
    each.set_error_bound(part.error_bound);
    fold.set_error_bound(std::max(fold.error_bound(), part.error_bound));
  }
  return result;
}

// The example of the header.
TEST(ErrorOfADifference, CountsEachRunThatIsNotSharedByItsOwnBound) {
  const configs::Result a = run_of(150'000, {{1, 100'000, 0.03}, {2, 50'000, 0.002}});
  const configs::Result b = run_of(250'000, {{2, 50'000, 0.002}, {3, 200'000, 0.002}});
  EXPECT_DOUBLE_EQ(error_of_difference_us(a, b), 3.4);
  EXPECT_DOUBLE_EQ(error_of_difference_us(b, a), 3.4);
  EXPECT_EQ(error_of_difference_us(a, a), 0);
}

TEST(ErrorOfADifference, IsNoneOfRunsThatShareAllThatIsEstimated) {
  EXPECT_EQ(error_of_difference_us(run_of(110'000, {{1, 100'000, 0.03}}), run_of(120'000, {{1, 100'000, 0.03}})), 0);
}

// A run occurs twice in one result and three times in the other: one error of it remains.
TEST(ErrorOfADifference, OfARunThatOneContainsMoreOftenIsThatOfTheSurplus) {
  EXPECT_DOUBLE_EQ(error_of_difference_us(run_of(20'000, {{1, 20'000, 0.01}}), run_of(30'000, {{1, 30'000, 0.01}})), 0.1);
}

// 100,000 cycles are 100 us and 80 us.
TEST(ErrorOfADifference, IsOfTimesWhereClocksDiffer) {
  const configs::Result slow = run_of(100'000, {{1, 100'000, 0.01}}, 1000);
  const configs::Result fast = run_of(100'000, {{1, 100'000, 0.01}}, 1250);
  EXPECT_DOUBLE_EQ(error_of_difference_us(slow, fast), 0.2);
}

// A result that an earlier version saved does not say which runs are estimated; the bound is then that of the whole time.
TEST(ErrorOfADifference, IsOfTheWholeTimeWhereEstimatedRunsAreNotListed) {
  EXPECT_DOUBLE_EQ(error_of_difference_us(run(1000, 0.002), run(500, 0.01)), 7);
  configs::Result only_alone = run_of(1000, {});
  only_alone.mutable_fold()->set_error_bound(0.002);  // of a kernel's run alone: no part of the total
  EXPECT_EQ(error_of_difference_us(only_alone, run_of(2000, {})), 0);
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

// The middle run is tied with both outer runs, which differ: a rank counts the runs that are certainly faster.
TEST(Ranks, AreThoseOfPairs) {
  EXPECT_THAT(ranks_of({run(1000, 0.002), run(1003, 0.002), run(1006, 0.002)}), ElementsAre(1, 1, 2));
}

// 1 % apart, 3 % of most of their time estimated: in the same run, in runs of their own.
TEST(Ranks, TellRunsApartThatShareWhatIsEstimated) {
  EXPECT_THAT(ranks_of({run_of(100'000, {{1, 90'000, 0.03}}), run_of(101'000, {{1, 90'000, 0.03}})}), ElementsAre(1, 2));
  EXPECT_THAT(ranks_of({run_of(100'000, {{1, 90'000, 0.03}}), run_of(101'000, {{2, 90'000, 0.03}})}), ElementsAre(1, 1));
}

// The error of a difference obeys the triangle inequality: a run that is faster than another for certain has a lower rank.
TEST(Ranks, AreEqualOnlyOfRunsThatCannotBeToldApart) {
  std::mt19937 random(7);
  const auto upto = [&random](uint32_t most) { return random() % (most + 1); };
  int shared = 0;
  for (int comparison = 0; comparison < 200; ++comparison) {
    std::vector<configs::Result> results;
    for (int r = 0; r < 6; ++r) {
      std::vector<Part> estimated;
      for (uint32_t number = 1; number <= 4; ++number) {
        if (upto(1) == 1) estimated.push_back({number, 1000 * (1 + upto(2)), 0.01 * number});
      }
      results.push_back(run_of(20'000 + upto(600), estimated));
    }
    const std::vector<uint32_t> places = ranks_of(results);
    for (size_t a = 0; a < results.size(); ++a) {
      for (size_t b = 0; b < results.size(); ++b) {
        const double slower = results[a].total_time_us() - results[b].total_time_us();
        if (slower > error_of_difference_us(results[a], results[b])) {
          ASSERT_GT(places[a], places[b]);
        }
        shared += a != b && places[a] == places[b] ? 1 : 0;
      }
    }
  }
  EXPECT_GT(shared, 100) << "runs hardly tie any more: the test says little";
}

TEST(Ties, AreWithTheFastestOfTheRank) {
  const std::vector<configs::Result> results = {run_of(30'000, {{2, 10'000, 0.03}}), run_of(20'400, {{1, 20'000, 0.03}}),
                                                run_of(20'000, {}), run_of(30'000, {{2, 10'000, 0.03}})};
  std::vector<const configs::Result*> runs;
  for (const configs::Result& result : results) runs.push_back(&result);
  const auto tied = ties(runs, {"A", "B", "C", "D"});
  EXPECT_FALSE(tied[0]);
  EXPECT_FALSE(tied[2]);
  ASSERT_TRUE(tied[1]);
  EXPECT_EQ(tied[1]->fastest(), "C");
  EXPECT_NEAR(tied[1]->slower(), 0.02, 1e-12);
  EXPECT_NEAR(tied[1]->told_apart_from(), 0.03, 1e-12);
  ASSERT_TRUE(tied[3]);
  EXPECT_EQ(tied[3]->fastest(), "A");
  EXPECT_EQ(tied[3]->slower(), 0);
  EXPECT_EQ(tied[3]->told_apart_from(), 0) << "the same run";
}

TEST(Ties, OfAComparisonAreSetBesideTheRanks) {
  configs::Comparison comparison;
  for (const auto& [policy, cycles] : {std::pair{"SEQUENTIAL", 200}, {"FUSED", 102}, {"CONCURRENT", 100}}) {
    configs::Result& result = *comparison.add_results();
    result = run(cycles, 0.02);
    result.set_policy(policy);
    result.mutable_tie()->set_fastest("of before");
  }
  rank_policies(comparison);
  EXPECT_EQ(comparison.results(0).rank(), 3);
  EXPECT_FALSE(comparison.results(0).has_tie());
  EXPECT_EQ(comparison.results(1).tie().fastest(), "CONCURRENT");
  EXPECT_FALSE(comparison.results(2).has_tie());
}

}  // namespace
}  // namespace warpfold::report
