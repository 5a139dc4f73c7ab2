// How a kernel reaches memory, by kind of access, counted by hand.

#include <gtest/gtest.h>

#include "sim/analytic/demand.h"
#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

sim::AccessCounts accesses(const traces::Kernel& kernel, sim::AccessKind kind) {
  const sim::Spec spec = sim::make_spec(one_sm("h100_sxm")).value();
  return sim::demand_of(spec, sim::make_image(spec, kernel).value()).of_cta.front().accesses[static_cast<size_t>(kind)];
}

// Four warps, ten trips: a load of 32 lanes' 4 bytes passes once, with a stride of two words twice.
TEST(Accesses, CountWhatBankConflictsAdd) {
  const traces::Kernel kernel =
      on_all_sub_cores("sm_90", 4, loop(10, {op("LDS R8, [R2]"), op("LDS R9, [R3]", {}, "wavefronts=2")}));
  const sim::AccessCounts loads = accesses(kernel, sim::AccessKind::kSharedLoad);
  EXPECT_EQ(loads.requests, 80);
  EXPECT_EQ(loads.wavefronts, 120);
  EXPECT_EQ(loads.excess_wavefronts, 40);
  EXPECT_EQ(loads.bytes, 0);
}

// m64n128k16 with A in shared memory: 16 + 128 / 4 wavefronts, counted by each of the four warps that issue it together.
TEST(Accesses, CountOperandsOfWgmmaInQuarters) {
  const traces::Kernel kernel = wgmma_kernel({.columns = 128, .a_in_registers = false, .count = 64});
  const sim::AccessCounts operands = accesses(kernel, sim::AccessKind::kWgmmaOperand);
  EXPECT_EQ(operands.requests, 4 * 64);
  EXPECT_EQ(operands.wavefronts, 4 * 64 * 48);
}

// A load that each of 3,000 CTAs executes once: L1 serves a third of the CTAs, not none of each.
TEST(Accesses, CountWhatL1ServesOverAllCtas) {
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .ctas(3000)
                                    .declare("stream x read dram=1/1 l1=1/3")
                                    .role("r", 1, {op("LDG.E R8, [R2.64]", {.write = 0}, "bytes=128 stream=0")})
                                    .kernel();
  const sim::AccessCounts loads = accesses(kernel, sim::AccessKind::kGlobalLoad);
  EXPECT_EQ(loads.bytes, 128);
  EXPECT_NEAR(loads.l1_bytes, 128.0 / 3, 0.01);
}

}  // namespace
}  // namespace warpfold::test
