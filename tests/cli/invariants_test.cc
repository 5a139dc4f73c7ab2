// Every invariant of a result (tools/warpfold/figures/invariants.h) is broken in turn, in a result that holds all of them.

#include <gmock/gmock.h>

#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tools/warpfold/figures/invariants.h"

namespace warpfold::cli {
namespace {

// One kernel of 10 resident warps for 100 cycles, 80 alone.
configs::Result whole() {
  configs::Result result;
  result.set_total_cycles(100);
  result.set_total_time_us(0.1);
  configs::KernelResult& kernel = *result.add_kernels();
  kernel.set_name("k");
  kernel.set_end_cycle(100);
  kernel.set_cycles(100);
  kernel.set_time_us(0.1);
  kernel.mutable_occupancy()->set_average_warps(10);
  kernel.set_resident_warp_cycles(1000);
  kernel.add_states()->set_warp_cycles(1000);
  kernel.set_l2_bytes(64);
  kernel.set_dram_bytes(32);
  configs::PhaseAccount& phase = *kernel.add_roles()->add_phases();
  phase.set_resident_warp_cycles(1000);
  phase.add_states()->set_warp_cycles(1000);
  configs::Slowdown& slowdown = *kernel.mutable_slowdown();
  slowdown.set_cycles(100);
  slowdown.set_solo_cycles(80);
  slowdown.set_warps(10);
  slowdown.add_losses()->set_warp_cycles(200);
  configs::Resource& resource = *result.add_resources();
  resource.set_name("alu");
  resource.set_busy(50);
  resource.set_capacity(100);
  resource.set_utilization(0.5);
  return result;
}

TEST(Invariants, HoldInAWholeResult) { EXPECT_EQ(broken_invariant(whole()), std::nullopt); }

TEST(Invariants, AreBrokenOneByOne) {
  using Break = std::function<void(configs::Result&)>;
  const std::vector<std::pair<Break, std::string>> all{
      {[](auto& r) { r.mutable_kernels(0)->set_tflops(std::numeric_limits<double>::infinity()); },
       "kernels[0].tflops is not a finite number"},
      {[](auto& r) { r.set_total_time_us(-1); }, "the run takes -1"},
      {[](auto& r) { r.mutable_kernels(0)->set_end_cycle(101); }, "runs from 0 to 101 of 100 cycles"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_occupancy()->set_average_warps(-1); }, "with -1"},
      {[](auto& r) { r.mutable_kernels(0)->set_cycles(99); }, "its cycles are not from its start to its end"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_states(0)->set_warp_cycles(999); }, "its states take 999 of 1000"},
      {[](auto& r) { r.mutable_kernels(0)->set_dram_bytes(65); }, "65 bytes of DRAM among 64 of L2"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_roles(0)->mutable_phases(0)->mutable_states(0)->set_warp_cycles(1); },
       "take 1 of 1000 resident warp-cycles"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_roles(0)->add_phases()->set_resident_warp_cycles(1); },
       "'s states in  take 0 of 1"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_slowdown()->mutable_losses(0)->set_warp_cycles(150); },
       "its losses of 150 warp-cycles are not the 200"},
      {[](auto& r) { r.mutable_kernels(0)->mutable_memory()->set_l1_hit_rate(1.1); }, "a hit or conflict rate of 1.1"},
      {[](auto& r) { r.mutable_resources(0)->set_busy(700); }, "alu is busy for 700 of 100"},
      {[](auto& r) { r.mutable_power()->add_resources()->set_share(1.5); }, "takes 1.5"},
  };
  for (const auto& [breaks, sentence] : all) {
    configs::Result result = whole();
    breaks(result);
    EXPECT_THAT(broken_invariant(result).value_or("none"), testing::HasSubstr(sentence));
  }
}

}  // namespace
}  // namespace warpfold::cli
