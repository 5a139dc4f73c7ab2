// Machines with more sub-cores or register ports than any existing GPU.

#include <gtest/gtest.h>

#include "sim/sm/warp_placement.h"
#include "tests/support/machine.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

configs::Gpu with_sub_cores(uint32_t sub_cores, uint32_t warp_slots = 8) {
  configs::Gpu gpu = one_sm_youngest_first("h100_sxm");
  gpu.mutable_sm()->set_sub_cores(sub_cores);
  gpu.mutable_sub_core()->set_warp_slots(warp_slots);
  gpu.mutable_sm()->set_warp_slots(sub_cores * warp_slots);
  return gpu;
}

uint64_t cycles(const configs::Gpu& gpu, const traces::Kernel& kernel) { return replay(gpu, kernel).outcome.total_cycles; }

// Independent LOP3 on a pipe of 16 lanes: a sub-core issues one every two cycles.
Lines alu() { return loop(200, {op("LOP3.LUT R4, R6, R8, R10, 0xc0, !PT", {.stall = 2})}); }

TEST(SubCores, TwiceAsManyHalveTheTimeOfAnAluBoundCta) {
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 8, alu());
  const auto four = static_cast<double>(cycles(with_sub_cores(4), kernel));
  const auto eight = static_cast<double>(cycles(with_sub_cores(8), kernel));
  EXPECT_NEAR(four / eight, 2, 0.1);
}

// Two CTAs of four warps: the second one uses the other four sub-cores.
TEST(SubCores, CtasOfOneWarpgroupLieSideBySide) {
  const traces::Kernel kernel = KernelText("k", "sm_90").ctas(2).role("warps", 4, alu()).kernel();
  const traces::Kernel one = KernelText("k", "sm_90").ctas(1).role("warps", 4, alu()).kernel();
  configs::Gpu gpu = with_sub_cores(8);
  gpu.mutable_sm()->set_cta_launch_cycles(0);
  EXPECT_EQ(cycles(gpu, kernel), cycles(gpu, one));
}

// CTAs of twelve warps begin at sub-cores 0 and 4 in turn: five of them fill all of the 64 slots but four.
TEST(SubCores, WarpSlotsHoldWhatPlacementFinds) {
  sim::Spec spec;
  spec.sub_cores = 8;
  spec.warp_slots_per_sub_core = 8;
  EXPECT_EQ(sim::warp_slot_limit(spec, 12), 5U);
  EXPECT_EQ(sim::warp_slot_limit(spec, 4), 16U);
  EXPECT_EQ(sim::warp_slot_limit(spec, 1), 64U);
  spec.sub_cores = 4;
  spec.warp_slots_per_sub_core = 16;
  for (uint32_t warps = 1; warps <= 64; ++warps) {
    const uint32_t whole = 64 / warps;
    const uint32_t rounded = 16 / ((warps + 3) / 4);
    EXPECT_EQ(sim::warp_slot_limit(spec, warps), warps < 4 ? whole : std::min(whole, rounded)) << warps;
  }
}

// The second warpgroup's products update accumulators on sub-cores 4 to 7. They do not compete with integer
// instructions on sub-cores 0 to 3.
TEST(SubCores, ProductsUseThePortsOfTheirOwnSubCores) {
  const Lines products = wgmma_lines({256, false, 16});
  const traces::Kernel beside = KernelText("k", "sm_90").role("alu", 4, alu()).role("products", 4, products).kernel();
  const traces::Kernel alone = KernelText("k", "sm_90").role("alu", 4, alu()).role("products", 4, {}).kernel();
  const Replay run = replay(with_sub_cores(8), beside);
  const Replay own = replay(with_sub_cores(8), alone);
  const Replay shared = replay(with_sub_cores(4), beside);
  EXPECT_EQ(run.warp(0).back(), own.warp(0).back());
  EXPECT_GT(shared.warp(0).back(), own.warp(0).back());
}

// Reading three fresh operands of one bank takes three cycles with one port, 1.5 with two, and one with three.
TEST(RegisterReadPorts, UpToFourABankServeReadsAtOnce) {
  const auto interval = [](double ports) {
    configs::Gpu gpu = one_sm_youngest_first("h100_sxm");
    gpu.mutable_sub_core()->set_read_window_cycles(1);
    gpu.mutable_sub_core()->mutable_register_read()->set_scale(ports);
    return cycles_per_instruction(gpu, {op("FFMA R4, R6, R8, R10"), op("FFMA R5, R12, R14, R16")});
  };
  EXPECT_NEAR(interval(1), 3, 0.05);
  EXPECT_NEAR(interval(2), 1.5, 0.05);
  EXPECT_NEAR(interval(3), 1, 0.05);
  EXPECT_NEAR(interval(4), 1, 0.05);
}

}  // namespace
}  // namespace warpfold::test
