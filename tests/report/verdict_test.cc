#include "tools/report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace warpfold::report {
namespace {

// A GEMM and random numbers under a policy.
configs::Result dropout_run(const std::string& policy, double total) {
  configs::Result result;
  result.set_scenario("block");
  result.set_gpu("H200");
  result.set_policy(policy);
  result.set_total_time_us(total);
  result.set_reason("issue_slot");
  result.set_stored_bits_bytes(536'870'912);
  configs::Scenario& scenario = *result.mutable_provenance()->mutable_scenario();
  configs::Kernel& gemm = *scenario.add_kernel();
  gemm.set_name("qkv");
  gemm.mutable_hopper_gemm();
  configs::Kernel& rng = *scenario.add_kernel();
  rng.set_name("rng");
  rng.mutable_philox();
  for (const char* name : {"qkv", "rng"}) {
    configs::KernelResult& kernel = *result.add_kernels();
    kernel.set_name(name);
    kernel.set_of(name);
  }
  return result;
}

TEST(Verdict, SaysWhatToDoWhatItGainsWhatLimitsItAndWhatItCosts) {
  const configs::Result fused = dropout_run("FUSED", 4018);
  const configs::Result hidden = dropout_run("CONCURRENT", 3377);
  const configs::Statement said = verdict({{"FUSED", "A", &fused}, {"CONCURRENT", "B", &hidden}});
  EXPECT_EQ(said.text(),
            "Hide the random numbers under the GEMM (CONCURRENT): 3.38 ms, 1.190 times as fast as FUSED; limited by issue_slot; "
            "stores 537 MB of random bits.");
  EXPECT_THAT(said.field(), testing::ElementsAre("B.total_time_us", "A.total_time_us", "B.reason", "B.stored_bits_bytes"));
}

TEST(Verdict, SaysThatKernelsNeverShareAnSm) {
  const configs::Result apart = dropout_run("SEQUENTIAL", 12);
  configs::Result beside = dropout_run("CONCURRENT", 10);
  for (configs::KernelResult& kernel : *beside.mutable_kernels()) kernel.set_resident_warp_cycles(100);
  const auto text = [&] { return verdict({{"SEQUENTIAL", "A", &apart}, {"CONCURRENT", "B", &beside}}).text(); };
  EXPECT_THAT(text(), testing::HasSubstr("as fast as SEQUENTIAL; its kernels never share an SM; limited by"));
  beside.mutable_kernels(0)->add_beside()->set_kernel("rng");
  EXPECT_THAT(text(), testing::Not(testing::HasSubstr("never share")));
}

TEST(Verdict, AdvisesTheFirstPolicyWhereItIsTheFastest) {
  const configs::Result apart = dropout_run("SEQUENTIAL", 10);
  const configs::Result beside = dropout_run("CONCURRENT", 12);
  EXPECT_THAT(verdict({{"SEQUENTIAL", "A", &apart}, {"CONCURRENT", "B", &beside}}).text(),
              testing::StartsWith("Run the kernels one after the other (SEQUENTIAL): 10.0 us, the fastest of 2 runs; limited by "));
}

TEST(Verdict, CallsAGainThatEstimatesLeaveOpenATie) {
  configs::Result fused = dropout_run("FUSED", 102);
  configs::Result hidden = dropout_run("CONCURRENT", 100);
  for (configs::Result* each : {&fused, &hidden}) each->mutable_fold()->set_error_bound(0.02);
  const configs::Statement said = verdict({{"FUSED", "A", &fused}, {"CONCURRENT", "B", &hidden}});
  EXPECT_THAT(said.text(), testing::StartsWith("Hide the random numbers under the GEMM (CONCURRENT): 100 us, tied with FUSED "
                                               "(2.00 % slower, told apart from 4.04 %); limited by "));
  EXPECT_THAT(said.field(), testing::Contains("A.total_time_us"));
}

// The estimated run that both contain is most of their time; its error is no part of the difference.
TEST(Verdict, TellsApartWhatDiffersInExactRuns) {
  configs::Result fused = dropout_run("FUSED", 102);
  configs::Result hidden = dropout_run("CONCURRENT", 100);
  for (configs::Result* each : {&fused, &hidden}) {
    each->set_total_cycles(static_cast<uint64_t>(each->total_time_us()));
    configs::Fold& fold = *each->mutable_fold();
    fold.set_error_bound(0.02);
    fold.set_total_error_bound(0.018);
    configs::EstimatedRun& run = *fold.add_estimated();
    run.set_run(1);
    run.set_cycles(90);
    run.set_error_bound(0.02);
  }
  EXPECT_THAT(verdict({{"FUSED", "A", &fused}, {"CONCURRENT", "B", &hidden}}).text(),
              testing::HasSubstr("CONCURRENT): 100 us, 1.020 times as fast as FUSED; limited by "));
}

TEST(Verdict, CallsRunsOfDifferentGpusByTheirLabels) {
  const configs::Result first = dropout_run("CONCURRENT", 10);
  configs::Result second = dropout_run("CONCURRENT", 5);
  second.set_gpu("B200");
  EXPECT_THAT(verdict({{"h200.json", "A", &first}, {"b200.json", "B", &second}}).text(),
              testing::StartsWith("b200.json: 5.00 us, 2.000 times as fast as h200.json; "));
}

}  // namespace
}  // namespace warpfold::report
