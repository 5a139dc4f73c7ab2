// Launches of profiles beside communication, and chains of mma.sync: `warpfold validate tests/validation/co_run/*.csv`
// (docs/validation/co_run.md) and two files of tests/validation/micro (docs/validation/micro_kernels.md).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/validation/whole/validated.h"

namespace warpfold::cli {
namespace {

// The median of the absolute errors of rows that satisfy `counts`, in percent.
template <typename Counts>
double median(const configs::Validation& validation, Counts counts) {
  std::vector<double> errors;
  for (const configs::ValidatedRow& row : validation.rows()) {
    if (counts(row)) errors.push_back(100 * std::abs(row.simulated() / row.measured() - 1));
  }
  if (errors.empty()) return 1000;
  const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
  std::nth_element(errors.begin(), middle, errors.end());
  return *middle;
}

bool is_ratio(const configs::ValidatedRow& row) { return row.quantity() == "time_ratio"; }

TEST(CoRunRows, SlowdownsBesideDeepEpAreWithinEightPercentInTheMedian) {
  const configs::Validation made = validated({"tests/validation/co_run/deepseek_h800.csv"});
  EXPECT_LT(median(made, is_ratio), 8);  // 6.7
  const auto gemm = [](const configs::ValidatedRow& row) { return row.kernel() == "DeepSeek's GEMM (FP8)"; };
  EXPECT_LT(median(made, [&](const auto& row) { return gemm(row) && is_ratio(row); }), 6);
  EXPECT_LT(median(made, [&](const auto& row) { return gemm(row) && !is_ratio(row); }), 12);  // 11.2
}

TEST(CoRunRows, SlowdownsBesideNccl) {
  const configs::Validation made = validated({"tests/validation/co_run/hta.csv"});
  EXPECT_EQ(made.rows_size(), 145);
  EXPECT_LT(median(made, is_ratio), 17);  // 15.4; launches of 20 us or more: 5.8
}

TEST(MicroRows, ChainsOfProductsAndReadsOfSomeSms) {
  const configs::Validation chains = validated({"tests/validation/micro/mma_sync.csv"});
  EXPECT_EQ(chains.rows_size(), 36);
  for (const configs::ValidatedRow& row : chains.rows()) EXPECT_NEAR(row.simulated() / row.measured(), 1, 0.065) << row.id();
  const configs::Validation calls = validated({"tests/validation/micro/mma_replaced.csv"});
  EXPECT_EQ(calls.rows_size(), 58);
  EXPECT_LT(median(calls, [](const auto&) { return true; }), 12);  // 11.5, the upper of the two middle rows
  const configs::Validation reads = validated({"tests/validation/micro/green_context.csv"});
  EXPECT_EQ(reads.rows_size(), 25);
  EXPECT_LT(median(reads, [](const auto&) { return true; }), 7);  // 6.2
}

}  // namespace
}  // namespace warpfold::cli
