// Rows of kernels that share SMs.

#include <gmock/gmock.h>

#include "rows.h"

namespace warpfold::validation {
namespace {

constexpr char kPairs[] = "id,category,gpu,kernel,dtype,M,N,K,dims_other,metric,value,unit";

TEST_F(Rows, TwoFp64KernelsShareEverySmOfAV100) {
  const Comparison both =
      map(kPairs, "X99,CORUN,V100 (80 SM),same-SM FP64 mul pipe x2,fp64,,,,80 blocks x 128 thr each; ILP 3,time co-located,346,ms");
  ASSERT_EQ(both.runs.size(), 1);
  const configs::Scenario& scenario = both.runs.front().scenario;
  EXPECT_EQ(scenario.policy().kind(), configs::CONCURRENT);
  ASSERT_EQ(scenario.kernel_size(), 2);
  EXPECT_NE(scenario.kernel(0).stream(), scenario.kernel(1).stream());
  const configs::KernelLaunch& launch = scenario.kernel(1).listing().description();
  EXPECT_EQ(launch.function(), "multiply_fp64_3");
  EXPECT_EQ(launch.grid().x(), 80);
  EXPECT_EQ(launch.block().x(), 128);
  EXPECT_DOUBLE_EQ(both.measured, 346'000);
  const Comparison after = map(
      kPairs, "X98,CORUN,V100 (80 SM),same-SM FP64 mul pipe x2,fp64,,,,80 blocks x 128 thr each; ILP 3,time two sequential,359,ms");
  EXPECT_EQ(after.runs.size(), 2);
}

TEST_F(Rows, TwoCopiesShareTheL1OfEverySm) {
  const std::string copies = "X97,CORUN,RTX 5090,same-SM L1: copy x2,,,,,170 blocks x 64 thr each; footprint ";
  const configs::Scenario both = map(kPairs, copies + "32 KB each per SM,time co-located,250,ms").runs.at(0).scenario;
  ASSERT_EQ(both.kernel_size(), 2);
  const configs::KernelLaunch& launch = both.kernel(0).listing().description();
  EXPECT_EQ(launch.function(), "copy_by_cta");
  EXPECT_EQ(launch.runs_on(), "sm_120");
  EXPECT_EQ(launch.parameter(2).value(), 8192);  // floats
  EXPECT_THAT(mistake(std::string(kPairs) + "\n" + copies + "300 KB each per SM,time co-located,250,ms\n"),
              testing::HasSubstr("a footprint of up to 128 KB"));
}

TEST_F(Rows, AnAllReduceComesFirstBesideAGemm) {
  const std::string all_reduce = "X1,CORUN,A100-SXM4-40GB (world 4; 400 W),GEMM || NCCL all-reduce 64 MiB,bf16,";
  const std::string figure = ",NCCL CTAs=8; clock 1200 MHz; power 300 W,time until both finish,1.5,ms";
  const configs::Scenario pair = map(kPairs, all_reduce + "1024,4096,4096" + figure).runs.at(0).scenario;
  EXPECT_EQ(pair.policy().kind(), configs::CONCURRENT);
  EXPECT_EQ(pair.kernel(1).listing().description().grid().x(), 8);
  EXPECT_GT(pair.kernel(1).priority(), pair.kernel(0).priority());
  EXPECT_EQ(pair.gpu().clock_mhz(), 1200);
}

TEST_F(Rows, TwoKernelsInOneAreThoseOfTheTracesKernel) {
  const std::string header = "id,category,gpu,kernel,impl,dtype,metric,value,unit";
  const auto row = [](const std::string& gpu, const std::string& kernel, const std::string& cap) {
    return "S1273,CORUN," + gpu + "," + kernel + ",HFuse trace ml-volta (" + cap + "),fp32,median time,2.8157,ms";
  };
  const auto trace = [&](const std::string& kernel, const std::string& cap) {
    const Comparison comparison = map(header, row("V100 (16GB)", kernel, cap));
    EXPECT_DOUBLE_EQ(comparison.measured, 2815.7);
    return std::filesystem::path(comparison.runs.at(0).scenario.kernel(0).trace().path()).filename().string();
  };
  EXPECT_EQ(trace("im2col_kernel_batch_norm_collect_statistics_kernel_0", "no reg cap"), "im2col_batch_norm_beside.wft");
  EXPECT_EQ(trace("im2col_kernel_batch_norm_collect_statistics_kernel_100", "reg cap"), "im2col_batch_norm_behind_32.wft");
  EXPECT_EQ(trace("MaxPoolForward", "no reg cap"), "max_pool_alone.wft");
  EXPECT_THAT(mistake(header + "\n" + row("V100 (16GB)", "max_pool_upsample_kernel", "no reg cap") + "\n"),
              testing::HasSubstr("two thirds of the pixels"));
  EXPECT_THAT(mistake(header + "\n" + row("V100 (16GB)", "ethash_search", "no reg cap") + "\n"),
              testing::HasSubstr("no kernel of HFuse's \"ethash_search\""));
  EXPECT_THAT(mistake(header + "\n" + row("A100", "MaxPoolForward", "no reg cap") + "\n"), testing::HasSubstr("of a V100"));
}

TEST_F(Rows, APairThatNoSuiteNamesNeedsAScenario) {
  EXPECT_EQ(mistake(std::string(kPairs) + "\nX1,CORUN,A100,two kernels of mine,,,,,,time co-located,1,ms\n"),
            "reason: kernels beside each other need a scenario (column scenario)");
}

}  // namespace
}  // namespace warpfold::validation
