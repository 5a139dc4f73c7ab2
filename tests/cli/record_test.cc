// Which records of validate --resume count, and which rows have a figure.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "tools/warpfold/figures/validation_figures.h"

namespace warpfold::cli {
namespace {

configs::SimulatedPoint pair() {
  configs::SimulatedPoint point;
  point.set_total_cycles(100);
  point.set_clock_mhz(1755);
  point.set_limiter_utilization(1);
  for (const char* name : {"a", "b"}) {
    configs::SimulatedKernel& kernel = *point.add_kernel();
    kernel.set_name(name);
    kernel.set_start_cycle(10);
    kernel.set_end_cycle(100);
    kernel.set_alone_cycles(60);
  }
  return point;
}

TEST(Record, CountsWhereASimulationMayHaveLeftIt) {
  EXPECT_TRUE(holds_together(pair(), true));
  const std::vector<std::function<void(configs::SimulatedPoint&)>> spoiled{
      [](auto& point) { point.set_total_cycles(0); },
      [](auto& point) { point.set_clock_mhz(0); },
      [](auto& point) { point.set_clock_mhz(std::numeric_limits<double>::infinity()); },
      [](auto& point) { point.set_limiter_utilization(1.5); },
      [](auto& point) { point.set_tensor_utilization(-0.5); },
      [](auto& point) { point.set_watts(std::nan("")); },
      [](auto& point) { point.mutable_kernel(1)->set_start_cycle(101); },
      [](auto& point) { point.mutable_kernel(1)->set_end_cycle(101); },
  };
  for (size_t i = 0; i < spoiled.size(); ++i) {
    configs::SimulatedPoint point = pair();
    spoiled[i](point);
    EXPECT_FALSE(holds_together(point, false)) << i;
  }
  configs::SimulatedPoint beside = pair();
  beside.mutable_kernel(1)->set_alone_cycles(0);
  EXPECT_TRUE(holds_together(beside, false));
  EXPECT_FALSE(holds_together(beside, true));
}

// The kernel has all of its 60 cycles of work left when the other one ends at 40.
TEST(Record, AKernelWithoutProgressHasNoSlowdown) {
  configs::SimulatedPoint point = pair();
  point.mutable_kernel(1)->set_end_cycle(40);
  validation::Comparison comparison;
  comparison.quantity = validation::Quantity::kSlowdown;
  comparison.measured = 2;
  comparison.of = "a";
  comparison.beside = "b";
  comparison.runs.resize(1);
  const validation::MeasuredRow measured("rows.csv", 2, {});
  EXPECT_EQ(why_no_figure(validated_row(measured, comparison, {&point})), "the simulated slowdown is no finite number");
  point.mutable_kernel(0)->set_alone_cycles(80);
  EXPECT_EQ(why_no_figure(validated_row(measured, comparison, {&point})), "");
}

}  // namespace
}  // namespace warpfold::cli
