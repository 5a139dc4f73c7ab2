#include "tools/report/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace warpfold::report {
namespace {

using testing::ElementsAre;

void add_kernel(const std::string& name, const std::string& bound_by, configs::Result& result) {
  configs::KernelResult& kernel = *result.add_kernels();
  kernel.set_name(name);
  kernel.set_of(name);
  kernel.set_cycles(1600);
  kernel.set_time_us(1);
  kernel.set_solo_cycles(800);
  kernel.set_slowdown_vs_solo(2);
  kernel.set_bound_by(bound_by);
  kernel.set_resident_warp_cycles(1000);
}

void add_entry(const std::string& victim, const std::string& culprit, const std::string& resource, uint64_t cycles,
               configs::Result& result) {
  configs::LedgerEntry& entry = *result.add_ledger();
  entry.set_victim(victim);
  entry.set_culprit(culprit);
  entry.set_resource(resource);
  entry.set_warp_cycles(cycles);
}

configs::Result pair() {
  configs::Result result;
  result.set_scenario("pair");
  result.set_gpu("H100");
  result.set_policy("CONCURRENT");
  result.set_total_time_us(2500);
  result.set_reason("g 1 us longer");
  configs::Scenario& scenario = *result.mutable_provenance()->mutable_scenario();
  configs::Kernel& gemm = *scenario.add_kernel();
  gemm.set_name("g");
  gemm.mutable_hopper_gemm();
  configs::Kernel& rng = *scenario.add_kernel();
  rng.set_name("r");
  rng.mutable_philox();
  add_kernel("g", "wgmma", result);
  add_kernel("r", "fma_heavy", result);
  add_entry("g", "r", "issue_slot", 56, result);
  add_entry("g", "r", "uniform", 14, result);
  add_entry("r", "g", "issue_slot", 20, result);
  add_entry("g", "g", "wgmma", 900, result);
  return result;
}

std::vector<std::string> texts(const std::vector<configs::Statement>& findings) {
  std::vector<std::string> texts;
  for (const configs::Statement& finding : findings) texts.push_back(finding.text());
  return texts;
}

TEST(Findings, SayInPlainWordsWhatBindsAndWhoTookWhat) {
  EXPECT_THAT(
      texts(findings(pair(), 10)),
      ElementsAre("pair on H100 takes 2.50 ms under policy CONCURRENT.",
                  "The GEMM (g) takes 1.00 us, 2.00 times as long as alone; alone it is bound by the tensor cores (wgmma).",
                  "The random numbers (r) take 1.00 us, 2.00 times as long as alone; alone they are bound by the heavy FMA pipe.",
                  "The random numbers took 7.0 % of the GEMM's warp time, mostly issue slots (80 % of it).",
                  "The run is limited by g 1 us longer."));
}

// 191 CTAs of 132 that fit on 66 SMs at a time.
TEST(Findings, NameTheTailOfTheLastWave) {
  configs::Result result = pair();
  result.mutable_provenance()->mutable_scenario()->mutable_gpu()->set_sm_count(66);
  configs::KernelResult& kernel = *result.mutable_kernels(0);
  kernel.set_ctas(191);
  kernel.mutable_occupancy()->set_ctas_per_sm_limit(2);
  EXPECT_THAT(texts(findings(result, 10))[1],
              testing::EndsWith("(wgmma); it makes 1.45 waves of CTAs: the last one fills 45 % of the chip."));
  for (const uint64_t ctas : {131, 132, 264, 2600}) {
    kernel.set_ctas(ctas);
    EXPECT_THAT(texts(findings(result, 10))[1], testing::EndsWith("(wgmma).")) << ctas;
  }
}

TEST(Findings, SharesAreOfTheTimeInWhichBothWereOnAnSm) {
  configs::Result result = pair();
  configs::Company& company = *result.mutable_kernels(0)->add_beside();
  company.set_kernel("r");
  company.set_warp_cycles(100);
  EXPECT_THAT(
      texts(findings(result, 10)),
      testing::Contains("While both were on an SM, the random numbers took 70.0 % of the GEMM's warp time, mostly issue slots "
                        "(80 % of it)."));
}

TEST(Findings, KeepTheftAndLossWhereThereIsRoomForFew) {
  const std::vector<std::string> few = texts(findings(pair(), 3));
  ASSERT_EQ(few.size(), 3U);
  EXPECT_THAT(few[1], testing::HasSubstr("took 7.0 %"));
  EXPECT_THAT(few[2], testing::HasSubstr("limited by"));
}

TEST(Findings, NameTheFieldsThatTheyRestOn) {
  EXPECT_THAT(findings(pair(), 10)[3].field(),
              ElementsAre("ledger[0].warp_cycles", "ledger[1].warp_cycles", "kernels[0].resident_warp_cycles"));
}

TEST(Findings, CallKernelsOfOneKindByTheirNames) {
  configs::Result result = pair();
  configs::Kernel& second = *result.mutable_provenance()->mutable_scenario()->add_kernel();
  second.set_name("h");
  second.mutable_hopper_gemm();
  add_kernel("h", "wgmma", result);
  EXPECT_THAT(texts(findings(result, 10))[1], testing::StartsWith("g takes 1.00 us"));
}

TEST(Thefts, LeaveOutWhatAKernelTakesFromItself) {
  const std::vector<ContentionShare> all = contention_shares(pair());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].victim, "g");
  EXPECT_DOUBLE_EQ(all[0].share, 0.07);
  EXPECT_EQ(all[0].resource, "issue_slot");
  EXPECT_DOUBLE_EQ(all[1].share, 0.02);
}

}  // namespace
}  // namespace warpfold::report
