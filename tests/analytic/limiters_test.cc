// The counts of limiters, checked by hand.

#include "sim/analytic/limiters.h"

#include <gtest/gtest.h>

#include "tests/support/machine.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

sim::Limiters limiters(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  auto counted = sim::limiters_of(gpu, kernel);
  if (!counted) throw std::logic_error(counted.error().text());
  return *std::move(counted);
}

TEST(Limiters, CountLoopsByTheirTripsWithoutUnrolling) {
  const Lines lines = loop(1000, join({op("FADD R8, R2, R3")}, loop(2000, {op("IADD3 R9, R2, R3, R4")})));
  const sim::Limiters counted = limiters(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 4, lines));
  EXPECT_EQ(counted.cycles_of("issue_slot"), 1000 * 2001 + 1);  // EXIT
  EXPECT_EQ(counted.cycles_of("alu"), 2.0 * 1000 * 2000);       // 16 lanes
  EXPECT_EQ(counted.cycles_of("tensor"), 0);
}

TEST(Limiters, AreSortedTheLongestFirst) {
  const sim::Limiters counted =
      limiters(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 4, {op("IADD3 R9, R2, R3, R4"), op("MUFU.EX2 R8, R2")}));
  for (size_t l = 1; l < counted.all().size(); ++l) EXPECT_GE(counted.all()[l - 1].cycles, counted.all()[l].cycles);
  EXPECT_EQ(counted.all().front().resource, "xu");
}

// R2 and R4 lie in one bank, R3 in the other; a kept operand is read once.
TEST(Limiters, CountTheBusierBankAndNoReadThatTheRegisterFileCacheHolds) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const auto reads = [&gpu](std::string_view instruction) {
    return limiters(gpu, on_all_sub_cores("sm_90", 4, loop(100, {op(instruction)}))).cycles_of("register_read_ports");
  };
  EXPECT_EQ(reads("FFMA R8, R2, R3, RZ"), 100);
  EXPECT_EQ(reads("FFMA R8, R2, R4, R3"), 200);
  EXPECT_EQ(reads("FFMA R8, R2.reuse, R4, R3"), 101);
  EXPECT_EQ(reads("IMAD.WIDE.U32 R8, R2, R3, R4"), 200);  // a pair: one of each bank
}

// m64n128k16: 64 cycles of the tensor core, 16 + 128 / 4 wavefronts with A in shared memory.
TEST(Limiters, CountAWgmmaOnceForItsFourWarps) {
  const sim::Limiters counted = limiters(one_sm("h100_sxm"), wgmma_kernel({.columns = 128, .a_in_registers = false, .count = 64}));
  EXPECT_EQ(counted.cycles_of("wgmma"), 64 * 64);
  EXPECT_EQ(counted.cycles_of("shared_memory"), 64 * 48);
  EXPECT_EQ(counted.all().front().slack, 0);  // all waited for
}

// Three CTAs on two SMs: the first SM has two.
TEST(Limiters, InsideAnSmAreThoseOfTheSmThatIsDealtMost) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  const traces::Kernel kernel = KernelText("k", "sm_90").ctas(3).role("r", 4, loop(100, {op("MUFU.EX2 R8, R2")})).kernel();
  EXPECT_EQ(limiters(gpu, kernel).cycles_of("xu"), 2.0 * 100 * 8);
}

TEST(Limiters, OfL2AndDramAreTheWholeChips) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_sm_count(2);
  gpu.mutable_l2()->set_read_bytes_per_clk(64);
  gpu.set_clock_mhz(1000);
  gpu.mutable_dram()->set_bandwidth_gb_per_s(32);
  gpu.mutable_dram()->set_efficiency_percent(50);  // 16 bytes a cycle
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .declare("stream data read dram=1/4")
                                    .ctas(3)
                                    .role("r", 4, loop(100, {op("LDG.E R8, [R2.64]", {}, "bytes=128 stream=0")}))
                                    .kernel();
  const sim::Limiters counted = limiters(gpu, kernel);
  const double bytes = 3.0 * 4 * 100 * 128;
  EXPECT_EQ(counted.cycles_of("l2_read"), bytes / 64);
  EXPECT_EQ(counted.cycles_of("dram"), bytes / 4 / 16);
  EXPECT_EQ(counted.cycles_of("sm_ingress"), 2 * bytes / 3 / 64);
}

TEST(Limiters, OfOneStreamOfInstructionsAreSums) {
  const sim::Limiters sum =
      sim::merged(sim::Limiters({{"alu", 100, 3}, {"xu", 80, 0}}), sim::Limiters({{"issue_slot", 150, 0}, {"xu", 90, 1}}));
  EXPECT_EQ(sum.cycles(), 170);
  EXPECT_EQ(sum.all().front().resource, "xu");
  EXPECT_EQ(sum.cycles_of("alu"), 100);
  EXPECT_EQ(sum.cycles_of("issue_slot"), 150);
}

TEST(Limiters, RefuseWhatTheMachineRefuses) {
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 4, {op("NOP")}, "hopper");
  const auto refused = sim::limiters_of(one_sm("a100_sxm"), kernel);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().text(), R"(kernel "hopper" is for sm_90, the GPU is sm_80)");
}

}  // namespace
}  // namespace warpfold::test
