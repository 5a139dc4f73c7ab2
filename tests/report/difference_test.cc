#include "tools/report/difference.h"

#include <gtest/gtest.h>

namespace warpfold::report {
namespace {

configs::Run run_of(double total_us, double gemm_us, uint64_t gmma, uint64_t lost, double dram) {
  configs::Run run;
  run.set_path("result");
  configs::Result& result = *run.mutable_result();
  result.set_total_time_us(total_us);
  configs::KernelResult& gemm = *result.add_kernels();
  gemm.set_name("gemm");
  gemm.set_time_us(gemm_us);
  gemm.set_resident_warp_cycles(1000);
  configs::StateCycles& state = *gemm.add_states();
  state.set_state("gmma");
  state.set_warp_cycles(gmma);
  configs::Resource& resource = *result.add_resources();
  resource.set_name("dram");
  resource.set_utilization(dram);
  if (lost > 0) {
    configs::LedgerEntry& entry = *result.add_ledger();
    entry.set_victim("gemm");
    entry.set_culprit("rng");
    entry.set_resource("issue_slot");
    entry.set_warp_cycles(lost);
  }
  return run;
}

TEST(Difference, PutsTheTotalFirstAndThenTheLargestMovers) {
  const configs::Difference difference = difference_of(run_of(100, 90, 300, 10, 0.5), run_of(80, 70, 350, 0, 0.9));
  ASSERT_EQ(difference.mover_size(), 5);
  EXPECT_EQ(difference.mover(0).what(), "total time");
  EXPECT_DOUBLE_EQ(difference.mover(0).change(), -20);
  EXPECT_DOUBLE_EQ(difference.mover(0).relative(), -0.2);
  EXPECT_EQ(difference.mover(1).what(), "dram");  // 40 % of capacity
  EXPECT_DOUBLE_EQ(difference.mover(1).change(), 40);
  EXPECT_EQ(difference.mover(2).what(), "gemm: time");  // 20 % of the run
  EXPECT_EQ(difference.mover(3).what(), "gemm: gmma");  // 5 % of its warp-cycles
  EXPECT_EQ(difference.mover(4).what(), "gemm lost to rng: issue_slot");
  EXPECT_DOUBLE_EQ(difference.mover(4).share_of_total(), 0.01);
}

TEST(Difference, NamesTheFieldsOfBothRuns) {
  const configs::Difference difference = difference_of(run_of(100, 90, 300, 10, 0.5), run_of(100, 90, 300, 0, 0.5));
  ASSERT_EQ(difference.mover_size(), 1);
  EXPECT_EQ(difference.mover(0).field_a(), "result.ledger[0].warp_cycles");
  EXPECT_EQ(difference.mover(0).field_b(), "");
}

TEST(Difference, HasNoRelativeMovementFromNothing) {
  const configs::Difference difference = difference_of(run_of(100, 90, 300, 0, 0.5), run_of(100, 90, 300, 10, 0.5));
  ASSERT_EQ(difference.mover_size(), 1);
  EXPECT_FALSE(difference.mover(0).has_relative());
  EXPECT_EQ(difference.mover(0).field_a(), "");
  EXPECT_EQ(difference.mover(0).field_b(), "result.ledger[0].warp_cycles");
}

TEST(Difference, LeavesOutWhatIsAlike) { EXPECT_EQ(difference_of(run_of(1, 1, 1, 1, 1), run_of(1, 1, 1, 1, 1)).mover_size(), 0); }

}  // namespace
}  // namespace warpfold::report
