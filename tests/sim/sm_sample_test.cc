#include "sim/sampling/sm_sample.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

using sim::SampledQueue;
using sim::SmClass;

// A kernel with loops of two lengths. `grid`: CTAs of classes long (t = 1000) and short (t = 500).
traces::Kernel of_two_lengths(const std::string& grid) {
  return KernelText("k", "sm_90")
      .classes("parameter t\nclass long t=1000\nclass short t=500\ngrid " + grid + "\n")
      .role("r", 4, loop("t", {op("FFMA R4, R8, R9, R4")}))
      .kernel();
}

bool may_sample(const traces::Kernel& kernel, double error) {
  const auto spec = sim::make_spec(one_sm("h100_sxm"));
  const auto image = sim::make_image(*spec, kernel);
  return sim::may_sample_sms(*image, 132, error);
}

TEST(SmSample, IsTakenWhereTheLongestCtaIsAShareOfTheError) {
  const traces::Kernel kernel = of_two_lengths("long*40000 short*40000");
  EXPECT_TRUE(may_sample(kernel, 0.05));
  EXPECT_FALSE(may_sample(kernel, 0.001));
  EXPECT_FALSE(may_sample(of_two_lengths("long*80000"), 0.05)) << "all are alike";
  EXPECT_FALSE(may_sample(of_two_lengths("long*500 short*500"), 0.05)) << "a CTA is longer than what the error allows";
}

TEST(SmSample, StandsForEverySmOnce) {
  SmClass all{.sms = 132, .ctas = {{}}, .indices = std::vector<uint32_t>(132)};
  std::iota(all.indices.begin(), all.indices.end(), 0);
  std::vector<uint32_t> indices;
  for (const SmClass& part : sim::sample_of(all)) {
    EXPECT_TRUE(part.sampled);
    EXPECT_EQ(part.sms, part.indices.size());
    indices.insert(indices.end(), part.indices.begin(), part.indices.end());
  }
  EXPECT_EQ(indices, all.indices);
}

// The more sampled SMs there are, the less later the last of all SMs may end, with 95 % confidence.
TEST(SmSample, KnowsTheLastEndTheBetterTheMoreEndItHasSeen) {
  EXPECT_GT(sim::latest_end_uncertainty(8), sim::latest_end_uncertainty(16));
  EXPECT_NEAR(sim::latest_end_uncertainty(2), 19, 1e-9);
}

TEST(SampledQueue, RunsItsShareOfEachClass) {
  SampledQueue queue;
  std::vector<int> run(3);
  for (int i = 0; i < 30; ++i) ++run[queue.pick({{0, 4}, {1, 3}, {2, 1}}, 8)];
  EXPECT_EQ(run[0], 15);
  EXPECT_NEAR(run[1], 11, 1);
  EXPECT_NEAR(run[2], 4, 1);
}

// Only a class among the CTAs that leave now may be run.
TEST(SampledQueue, RunsNoClassThatDoesNotLeaveWithTheOthers) {
  SampledQueue queue;
  EXPECT_EQ(queue.pick({{0, 5}, {1, 3}}, 8), 0);
  EXPECT_EQ(queue.pick({{2, 8}}, 8), 2);
}

}  // namespace
}  // namespace warpfold::test
