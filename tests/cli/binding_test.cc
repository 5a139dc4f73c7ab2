#include "tools/warpfold/figures/binding.h"

#include <gtest/gtest.h>

#include "configs/resources.h"

namespace warpfold::cli {
namespace {

using sim::WarpState;

// 1,000 cycles on ten SMs, each of which holds two of the kernel's CTAs.
sim::Outcome alone(double busy, uint64_t ctas, WarpState waits) {
  sim::Outcome outcome;
  outcome.resources = {{"alu", 100, 1000}, {"dram", static_cast<uint64_t>(1000 * busy), 1000}};
  sim::KernelCounters& kernel = outcome.kernels.emplace_back();
  kernel.end_cycle = 1000;
  kernel.ctas = ctas;
  kernel.cta_limit = 2;
  kernel.cta_limiter = "registers";
  kernel.states[static_cast<size_t>(WarpState::kSelected)] = 100;
  kernel.states[static_cast<size_t>(waits)] += 500;
  return outcome;
}

std::string binding(double busy, uint64_t ctas, WarpState waits = WarpState::kLongScoreboard, uint32_t cta_launch = 10) {
  configs::Gpu gpu;
  gpu.mutable_sm()->set_cta_launch_cycles(cta_launch);
  return binding_of(gpu, 10, alone(busy, ctas, waits));
}

TEST(Binding, IsAResourceThatIsBusyForMoreThan60Percent) {
  EXPECT_EQ(binding(0.61, 20), "dram");
  EXPECT_EQ(binding(0.6, 20), "latency of global memory");
}

TEST(Binding, OfIdleSmsIsTheGrid) { EXPECT_EQ(binding(0.4, 9), "grid"); }

TEST(Binding, OfCtasThatStartOneAfterTheOtherIsTheirStarts) {
  EXPECT_EQ(binding(0.4, 610), "CTA starts");
  EXPECT_EQ(binding(0.4, 600), "occupancy (registers)");
}

TEST(Binding, OfCtasThatDoNotFitIsOccupancy) {
  EXPECT_EQ(binding(0.4, 21), "occupancy (registers)");
  EXPECT_EQ(binding(0.4, 20), "latency of global memory");
}

TEST(Binding, OfResidentWarpsIsTheLongestLatencyOrTheClock) {
  EXPECT_EQ(binding(0.4, 20, WarpState::kGmma), "latency of wgmma");
  EXPECT_EQ(binding(0.4, 20, WarpState::kWait), "clock");
}

TEST(Binding, IsRelievedByAResourceOfTheWhatIf) {
  for (const char* name : {"wgmma", "sm_ingress", "register_write_port", "occupancy (shared_memory)", "latency of stores", "dram"})
    EXPECT_NE(configs::find_resource(relief_of(name)), nullptr) << name;
  EXPECT_EQ(relief_of("grid"), "");
  EXPECT_EQ(relief_of("clock"), "");
}

}  // namespace
}  // namespace warpfold::cli
