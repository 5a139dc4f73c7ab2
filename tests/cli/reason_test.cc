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
  result.add_resources()->set_name("alu");
  result.set_total_cycles(1000 + extra);
  result.set_total_time_us(static_cast<double>(1000 + extra));
  return result;
}

TEST(Reason, IsALossOfAHundredthOfTheRun) {
  EXPECT_EQ(reason_of(side_by_side(20)).text, "a, 20.0 us slower than alone: no single resource");
  EXPECT_EQ(reason_of(side_by_side(5)).text, "a, bound by alu");
}

TEST(Reason, OfAPolicyThatOthersBeatIsALossBeyondTheErrorBound) {
  configs::Result second = side_by_side(5);
  second.set_rank(2);
  EXPECT_EQ(reason_of(second).text, "a, 5.00 us slower than alone: no single resource");
  second.mutable_fold()->set_error_bound(0.01);
  EXPECT_EQ(reason_of(second).text, "a, bound by alu");
  configs::Result first = side_by_side(5);
  first.set_rank(1);
  EXPECT_EQ(reason_of(first).text, "a, bound by alu");
}

void add_loss(const std::string& kind, const std::string& resource, int64_t warp_cycles, configs::KernelResult& kernel) {
  configs::Loss& loss = *kernel.mutable_slowdown()->add_losses();
  loss.set_kind(kind);
  loss.set_culprit("b");
  loss.set_resource(resource);
  loss.set_warp_cycles(warp_cycles);
}

// `a` has some 1 of 60 warps for as long as it is beside `b`, half of its time.
configs::Result few_warps(int64_t at_write_ports) {
  configs::Result result = side_by_side(1000);
  result.mutable_alone(0)->set_average_warps(60);
  configs::KernelResult& victim = *result.mutable_kernels(0);
  victim.mutable_occupancy()->set_average_warps(1);
  configs::Company& company = *victim.add_beside();
  company.set_kernel("b");
  company.set_warp_cycles(1000);
  add_loss("residency", "registers", 59000, victim);
  add_loss("contention", "register_write_port", at_write_ports, victim);
  configs::StateCycles& state = *victim.add_states();
  state.set_state("dispatch_stall");
  state.set_warp_cycles(static_cast<uint64_t>(at_write_ports));
  return result;
}

// Sixty warps would queue at the ports that one warp finds taken.
TEST(Reason, IsTheQueueWhereTheWarpsThatAreThereStandInIt) {
  const Reason reason = reason_of(few_warps(900));
  EXPECT_EQ(reason.text, "a, 1.00 ms slower than alone: register_write_port held by b");
  EXPECT_EQ(reason.resource, "register_write_ports");
}

TEST(Reason, IsOccupancyWhereTheWarpsThatAreThereWaitForResults) {
  const Reason reason = reason_of(few_warps(100));
  EXPECT_EQ(reason.text, "a, 1.00 ms slower than alone: 1.0 warps an SM instead of 60.0");
  EXPECT_EQ(reason.resource, "registers");
}

// ALUs that are busy for 95 % of the run, and nothing else for more than 20 %: more of them gain up to 75 %.
TEST(Reason, IsTheBusyResourceWhereThatHasMoreToGain) {
  configs::Result result = few_warps(900);
  result.mutable_resources(0)->set_utilization(0.95);
  configs::Resource& dram = *result.add_resources();
  dram.set_name("dram");
  dram.set_utilization(0.2);
  EXPECT_EQ(reason_of(result).text, "a, bound by alu");
  EXPECT_EQ(reason_of(result).resource, "alu");
  dram.set_utilization(0.5);
  EXPECT_EQ(reason_of(result).resource, "register_write_ports");
}

}  // namespace
}  // namespace warpfold::cli
