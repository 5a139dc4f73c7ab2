#include "tools/report/advice.h"

#include <gtest/gtest.h>

namespace warpfold::report {
namespace {

configs::KernelOccupancy& add_kernel(const std::string& name, const std::string& limiter, configs::Result& result) {
  configs::KernelOccupancy& kernel = *result.mutable_occupancy()->add_kernels();
  kernel.set_kernel(name);
  kernel.set_ctas_per_sm(1);
  kernel.set_limiter(limiter);
  kernel.set_registers_per_thread(168);
  kernel.set_shared_memory_bytes(100'000);
  return kernel;
}

void add_smaller(uint32_t ctas, uint32_t registers, double speedup, configs::KernelOccupancy& kernel) {
  configs::SmallerFootprint& smaller = *kernel.add_smaller();
  smaller.set_ctas(ctas);
  smaller.set_registers_per_thread(registers);
  smaller.set_shared_memory_bytes(100'000);
  smaller.set_speedup(speedup);
}

TEST(OccupancyAdvice, PutsFirstTheFootprintThatGainsMost) {
  configs::Result result;
  add_kernel("a", "warp_slots", result).set_no_smaller("the SM's warp_slots hold no more CTAs of this size");
  configs::KernelOccupancy& second = add_kernel("b", "registers", result);
  add_smaller(2, 128, 1.05, second);
  add_smaller(3, 80, 1.04, second);
  const auto said = occupancy_advice(result);
  ASSERT_EQ(said.size(), 2);
  EXPECT_EQ(
      said[0].text(),
      "b: 1 CTA an SM, limited by registers; with 128 registers a thread (40 fewer) 2 fit, and the run is 1.05 times as fast.");
  EXPECT_EQ(said[0].field(2), "occupancy.kernels[1].smaller[0].speedup");
  EXPECT_EQ(said[1].text(),
            "a: 1 CTA an SM, limited by warp_slots; no further CTA: the SM's warp_slots hold no more CTAs of this size.");
}

TEST(OccupancyAdvice, CallsAGainWithinTheErrorBoundNone) {
  configs::Result result;
  result.mutable_occupancy()->set_noise(0.004);
  add_smaller(2, 128, 1.003, add_kernel("a", "registers", result));
  EXPECT_TRUE(occupancy_advice(result)[0].text().ends_with("2 fit, and the run is as fast."));
}

}  // namespace
}  // namespace warpfold::report
