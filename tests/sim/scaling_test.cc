// Scaled resources, cycle by cycle: effects of a factor, and figures that it leaves unchanged.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "configs/resources.h"
#include "configs/settings.h"
#include "sim/sm/make_spec.h"
#include "tests/support/machine.h"
#include "tests/support/random_programs.h"
#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

configs::Gpu hopper(const std::string& path, const std::string& factor) {
  configs::Gpu gpu = one_sm("h100_sxm");
  EXPECT_TRUE(configs::set_field(gpu, path, factor).has_value()) << path;
  return gpu;
}

double steady(const configs::Gpu& gpu, std::string_view instruction) {
  return cycles_per_instruction(gpu, repeat(8, {op(instruction)}));
}

TEST(Scale, OfAPipeIsHowLongAnInstructionHoldsIt) {
  constexpr std::string_view kAlu = "LOP3.LUT R1, R2, R3, RZ, 0x3c, !PT";
  EXPECT_EQ(steady(one_sm("h100_sxm"), kAlu), 2);
  EXPECT_EQ(steady(hopper("sub_core.alu.scale", "2"), kAlu), 1);
  EXPECT_EQ(steady(hopper("sub_core.alu.scale", "0.5"), kAlu), 4);
  EXPECT_EQ(steady(hopper("sub_core.alu.scale", "1.5"), kAlu), 2);  // 1 1/3, rounded up
  EXPECT_EQ(steady(hopper("sub_core.xu.scale", "2"), "MUFU.EX2 R1, R2"), 4);
  EXPECT_EQ(steady(hopper("sub_core.fma_heavy.scale", "2"), "IMAD.WIDE R4, R2, R3, RZ"), 2);
  EXPECT_EQ(steady(hopper("sm.tensor.scale", "0.5"), "HMMA.16816.F32 R4, R8, R12, R4"), 12);
}

TEST(Scale, OfIssueIsHowManyWarpsGoInACycle) {
  EXPECT_EQ(steady(one_sm("h100_sxm"), "NOP"), 1);
  EXPECT_EQ(steady(hopper("sub_core.issue.scale", "2"), "NOP"), 0.5);
  EXPECT_EQ(steady(hopper("sub_core.issue.scale", "0.5"), "NOP"), 2);
  EXPECT_EQ(steady(hopper("sub_core.issue.scale", "0.25"), "NOP"), 4);
  // The pipes are not scaled: one FP32 instruction a cycle.
  EXPECT_EQ(steady(hopper("sub_core.issue.scale", "2"), "FADD R1, R2, R3"), 1);
}

TEST(Scale, OfIssueNeverTakesTwoInstructionsOfAWarpInACycle) {
  const Replay run =
      replay(hopper("sub_core.issue.scale", "2"), on_one_sub_core("sm_90", {repeat(6, {op("NOP")}), repeat(6, {op("NOP")})}));
  // Warps 1 to 3 are on the other sub-cores.
  for (const size_t warp : {size_t{0}, size_t{4}}) {
    for (size_t n = 1; n < 6; ++n) EXPECT_EQ(run.warp(warp).at(n), run.warp(warp).at(n - 1) + 1);
  }
  EXPECT_EQ(run.warp(0).front(), run.warp(4).front());
}

// FFMA with three operands of one bank takes three cycles of its port.
TEST(Scale, OfReadPorts) {
  constexpr std::string_view kOneBank = "FFMA R1, R2, R4, R6";
  EXPECT_EQ(steady(one_sm("h100_sxm"), kOneBank), 3);
  EXPECT_EQ(steady(hopper("sub_core.register_read.scale", "0.5"), kOneBank), 6);
  EXPECT_EQ(steady(hopper("sub_core.register_read.scale", "2"), kOneBank), 1.5);
}

TEST(Scale, OfSharedMemoryCountsWavefronts) {
  const auto cycles = [](const configs::Gpu& gpu) {
    const Replay run = replay(gpu, on_all_sub_cores("sm_90", 16, loop(2000, {op("LDS R4, [R2]", {}, "wavefronts=8")})));
    return static_cast<double>(run.outcome.total_cycles) / (2000 * 16 * 8);
  };
  EXPECT_NEAR(cycles(one_sm("h100_sxm")), 1, 0.01);
  EXPECT_NEAR(cycles(hopper("sm.shared_memory.scale", "2")), 0.5, 0.01);
  EXPECT_NEAR(cycles(hopper("sm.shared_memory.scale", "1.5")), 1 / 1.5, 0.01);
  EXPECT_NEAR(cycles(hopper("sm.shared_memory.scale", "0.5")), 2, 0.01);
  EXPECT_NEAR(cycles(hopper("sm.shared_memory.bytes_per_clk", "64")), 2, 0.01);
  EXPECT_NEAR(cycles(hopper("sm.shared_memory.bytes_per_clk", "256")), 0.5, 0.01);
}

TEST(Scale, OfMemoryRequestsTakesAddressGenerationToo) {
  const auto cycles = [](const configs::Gpu& gpu) {
    const Replay run = replay(gpu, on_all_sub_cores("sm_90", 32, loop(200, {op("LDC R4, c[0x0][R2]")})));
    return static_cast<double>(run.outcome.total_cycles) / (200 * 32);
  };
  EXPECT_NEAR(cycles(one_sm("h100_sxm")), 1, 0.02);
  EXPECT_NEAR(cycles(hopper("sm.memory_io.scale", "2")), 0.5, 0.02);
  EXPECT_NEAR(cycles(hopper("sm.memory_io.scale", "0.5")), 2, 0.02);
}

// Returns the cycles from the issue of a load to the issue of the instruction that waits for it.
uint64_t load_to_use(const configs::Gpu& gpu, std::string_view load, std::string_view effect) {
  const Lines lines{op(load, {.stall = 2, .write = 0}, effect), op("NOP", {.wait = {0}})};
  const Replay run = replay(gpu, on_one_sub_core("sm_90", {lines}));
  return run.warp(0).at(1) - run.warp(0).at(0);
}

TEST(LatencyScale, OfSharedMemory) {
  const uint64_t as_is = load_to_use(one_sm("h100_sxm"), "LDS R4, [R2]", "");
  EXPECT_EQ(load_to_use(hopper("sm.shared_memory.latency_scale", "2"), "LDS R4, [R2]", ""), as_is + 29);
}

TEST(LatencyScale, OfL2AndDramAddUp) {
  const auto latency = [](const configs::Gpu& gpu) { return load_to_use(gpu, "LDG.E R4, [R2.64]", "bytes=128"); };
  const uint64_t as_is = latency(one_sm("h100_sxm"));
  EXPECT_EQ(latency(hopper("l2.latency_scale", "2")), as_is + 260);
  EXPECT_EQ(latency(hopper("l2.latency_scale", "0.5")), as_is - 130);
  EXPECT_EQ(latency(hopper("dram.latency_scale", "2")), as_is);  // the load does not access DRAM
}

TEST(CapacityScale, ChangesWhatFits) {
  const traces::Kernel kernel =
      KernelText("k", "sm_90").options("registers=128").ctas(8).role("r", 8, loop(100, {op("MUFU.EX2 R8, R2")})).kernel();
  const auto limit = [&](const configs::Gpu& gpu) { return replay(gpu, kernel).outcome.kernels[0].cta_limit; };
  EXPECT_EQ(limit(one_sm("h100_sxm")), 2);
  EXPECT_EQ(limit(hopper("sm.register_file.capacity_scale", "2")), 4);
  EXPECT_EQ(limit(hopper("sm.register_file.capacity_scale", "0.5")), 1);
  EXPECT_EQ(limit(hopper("sm.warps.capacity_scale", "0.125")), 1);
  const auto refused = sim::simulate(hopper("sm.register_file.capacity_scale", "0.125"), {launch(kernel)});
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("can never fit"), std::string::npos);
}

TEST(Resources, AllNameFieldsOfAGpu) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    for (const std::string& setting : configs::scaled_by(gpu, resource, 2)) {
      configs::Gpu scaled = gpu;
      const size_t equals = setting.find('=');
      ASSERT_TRUE(setting.starts_with("gpu.")) << setting;
      EXPECT_TRUE(configs::set_field(scaled, setting.substr(4, equals - 4), setting.substr(equals + 1)).has_value()) << setting;
    }
  }
  EXPECT_EQ(configs::scaled_by(gpu, *configs::find_resource("tensor"), 2), std::vector<std::string>{"gpu.sm.tensor.scale=2"});
  EXPECT_EQ(configs::scaled_by(gpu, *configs::find_resource("l2_bytes"), 0.5),
            (std::vector<std::string>{"gpu.l2.bytes=26214400", "gpu.l2.dirty_bytes=13107200"}));
  EXPECT_EQ(configs::scaled_by(hopper("sm.tensor.scale", "1.5"), *configs::find_resource("tensor"), 2),
            std::vector<std::string>{"gpu.sm.tensor.scale=3"});
}

// Scheduling anomalies: a machine with more of a resource may run its warps and CTAs in a less favourable order. Graham
// showed for multiprocessors (1969) that list scheduling then takes at most twice as long. Small programs, of a few
// hundred cycles as here, show it most; docs/whatif.md has figures of whole kernels.
RC_GTEST_PROP(MoreOfAResource, IsNeverSlowerBeyondTheAnomalyBound, ()) {
  const Scenario scenario = any_scenario();
  const configs::ScalableResource& resource = *rc::gen::elementOf(
      std::vector<configs::ScalableResource>(configs::scalable_resources().begin(), configs::scalable_resources().end()));
  RC_PRE(!resource.whole);
  const double factor = resource.kind == configs::ResourceKind::kLatency ? 0.5 : 2;
  configs::Gpu better = scenario.gpu;
  RC_PRE(configs::set_field(better, resource.path, std::to_string(factor)).has_value());
  const auto cycles = [&](const configs::Gpu& gpu) {
    return replay(gpu, scenario.launches, scenario.serialise).outcome.total_cycles;
  };
  RC_LOG(scenario.describe());
  RC_LOG(std::string(resource.name));
  RC_ASSERT(cycles(better) <= 2 * cycles(scenario.gpu));
}

// A GPU file with such a rate is refused earlier, with line and column (configs/check_gpu.cc).
TEST(Scale, OfMemoryBeyondWhatItsClockCounts) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.mutable_dram()->set_bandwidth_gb_per_s(1e7);
  const auto spec = sim::make_spec(gpu);
  ASSERT_FALSE(spec);
  EXPECT_NE(spec.error().message.find("L2 and DRAM must move between 1 and 1,000,000 bytes a cycle"), std::string::npos);
}

// On a GPU without bulk copies, their latency is not among those of which the shortest makes the quantum.
TEST(Quantum, IsAsLongWithoutBulkCopies) {
  for (const char* name : {"h100_sxm", "a100_sxm", "v100_16gb", "rtx_a6000"})
    EXPECT_EQ(sim::make_spec(one_sm(name))->memory_reply, 64) << name;
}

}  // namespace
}  // namespace warpfold::test
