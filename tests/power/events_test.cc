// The events counted for a kernel, checked by hand.

#include "sim/power/events.h"

#include <gtest/gtest.h>

#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

sim::PowerEvents events(const configs::Gpu& gpu, const traces::Kernel& kernel) {
  const auto spec = sim::make_spec(gpu);
  if (!spec) throw std::logic_error(spec.error().text());
  auto counted = sim::events_of(*spec, kernel);
  if (!counted) throw std::logic_error(counted.error().text());
  return *std::move(counted);
}

uint64_t of_pipe(const sim::PowerEvents& events, isa::Pipe pipe) { return events.pipe_instructions[static_cast<size_t>(pipe)]; }

uint64_t operations(const sim::PowerEvents& events, sim::OperandWidth width) {
  return events.tensor_operations[static_cast<size_t>(width)];
}

TEST(PowerEvents, CountWarpInstructionsByPipe) {
  const Lines lines = loop(100, {op("FADD R8, R2, R3"), op("IADD3 R9, R2, R3, R4"), op("IADD3 R9, R2, R3, R4")});
  const sim::PowerEvents counted = events(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 8, lines));
  EXPECT_EQ(counted.instructions, 8 * (300 + 1));  // EXIT
  EXPECT_EQ(of_pipe(counted, isa::Pipe::kAlu), 8 * 200);
  EXPECT_EQ(counted.register_reads, 8 * 100 * (2 + 3 + 3));
}

// m64n128k16 is 2 x 64 x 128 x 16 operations, issued by four warps together.
TEST(PowerEvents, CountTheOperationsOfAWgmmaOnce) {
  const sim::PowerEvents counted = events(one_sm("h100_sxm"), wgmma_kernel({.columns = 128, .a_in_registers = false, .count = 64}));
  EXPECT_EQ(operations(counted, sim::OperandWidth::k16), 64ULL * 2 * 64 * 128 * 16);
  EXPECT_EQ(operations(counted, sim::OperandWidth::k8), 0);
  EXPECT_EQ(counted.shared_memory_bytes, 64 * 48 * 128);
}

// A narrower element makes k of the same bytes longer.
TEST(PowerEvents, CountOperationsOfNarrowOperandsByThemselves) {
  const auto of = [](std::string_view instruction) {
    return events(one_sm("a100_sxm"), on_all_sub_cores("sm_80", 4, {op(instruction)}));
  };
  EXPECT_EQ(operations(of("HMMA.16816.F32.BF16 R8, R2, R4, R8"), sim::OperandWidth::k16), 4 * 4096);
  EXPECT_EQ(operations(of("HMMA.1688.F32 R8, R2, R4, R8"), sim::OperandWidth::k16), 4 * 2048);
  EXPECT_EQ(operations(of("IMMA.16832.S8.S8 R8, R2, R4, R8"), sim::OperandWidth::k8), 4 * 8192);
}

TEST(PowerEvents, CountBytesOfL2AndTheirShareFromDram) {
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .declare("stream data read dram=1/4")
                                    .ctas(3)
                                    .role("r", 4, loop(100, {op("LDG.E R8, [R2.64]", {}, "bytes=128 stream=0")}))
                                    .kernel();
  const sim::PowerEvents counted = events(one_sm("h100_sxm"), kernel);
  EXPECT_EQ(counted.l2_bytes, 3 * 4 * 100 * 128);
  EXPECT_EQ(counted.dram_bytes, 3 * 4 * 100 * 128 / 4);
}

TEST(PowerEvents, AreTheSameWhateverTheClock) {
  const traces::Kernel kernel = wgmma_kernel({.columns = 64, .a_in_registers = false, .count = 8});
  configs::Gpu gpu = one_sm("h100_sxm");
  const sim::PowerEvents before = events(gpu, kernel);
  gpu.set_clock_mhz(500);
  const sim::PowerEvents after = events(gpu, kernel);
  EXPECT_EQ(before.tensor_operations, after.tensor_operations);
  EXPECT_EQ(before.pipe_instructions, after.pipe_instructions);
  EXPECT_EQ(before.dram_bytes, after.dram_bytes);
}

TEST(Energy, IsTheSumOfWhatEventsTake) {
  configs::EventEnergy per_event;
  per_event.set_warp_instruction_pj(100);
  per_event.set_alu_pj(50);
  per_event.set_dram_byte_pj(80);
  sim::PowerEvents counted;
  counted.instructions = 10;
  counted.pipe_instructions[static_cast<size_t>(isa::Pipe::kAlu)] = 4;
  counted.dram_bytes = 1000;
  const sim::Energy energy = sim::energy_of(per_event, counted);
  EXPECT_NEAR(energy.at_core_voltage(), 1200e-12, 1e-18);
  EXPECT_NEAR(energy.dram(), 80'000e-12, 1e-18);
}

}  // namespace
}  // namespace warpfold::test
