#include "tools/warpfold/figures/reason.h"

#include <gtest/gtest.h>

#include <string>

namespace warpfold::cli {
namespace {

// Two kernels side by side on two SMs; `a` alone takes 1000 cycles and ends last, `extra` cycles late.
configs::Result side_by_side(uint64_t extra) {
  configs::Result result;
  configs::Scenario& scenario = *result.mutable_provenance()->mutable_scenario();
  scenario.mutable_gpu()->set_sm_count(2);
  uint32_t stream = 0;
  for (const auto& [name, cycles] : {std::pair{"a", uint64_t{1000}}, {"b", uint64_t{500}}}) {
    configs::Kernel& kernel = *scenario.add_kernel();
    kernel.set_name(name);
    kernel.set_stream(stream++);
    configs::Alone& alone = *result.add_alone();
    alone.set_name(name);
    alone.set_cycles(cycles);
    alone.set_bound_by("alu");
    configs::KernelResult& ran = *result.add_kernels();
    ran.set_name(name);
    ran.set_of(name);
    ran.set_sms(2);
    ran.set_cycles(cycles + extra);
    ran.set_end_cycle(cycles + extra);
    ran.set_resident_warp_cycles(cycles + extra);
  }
  result.set_total_cycles(1000 + extra);
  result.set_total_time_us(static_cast<double>(1000 + extra));
  return result;
}

TEST(Reason, IsALossOfAHundredthOfTheRun) {
  EXPECT_EQ(reason_of(side_by_side(20)), "a, 20.0 us slower than alone: no single resource");
  EXPECT_EQ(reason_of(side_by_side(5)), "a, bound by alu");
}

TEST(Reason, OfAPolicyThatOthersBeatIsALossBeyondTheErrorBound) {
  configs::Result second = side_by_side(5);
  second.set_rank(2);
  EXPECT_EQ(reason_of(second), "a, 5.00 us slower than alone: no single resource");
  second.mutable_fold()->set_error_bound(0.01);
  EXPECT_EQ(reason_of(second), "a, bound by alu");
  configs::Result first = side_by_side(5);
  first.set_rank(1);
  EXPECT_EQ(reason_of(first), "a, bound by alu");
}

}  // namespace
}  // namespace warpfold::cli
