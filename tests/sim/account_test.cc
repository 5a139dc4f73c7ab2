// Conservation: warp states, instructions, bytes, time.

#include <gtest/gtest.h>

#include <numeric>

#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using sim::WarpState;

uint64_t all_states(const sim::KernelCounters& counters) {
  return std::accumulate(counters.states.begin(), counters.states.end(), uint64_t{0});
}

const Lines kMixed = loop(50, {op("IADD3 R1, R2, R3, RZ", {.stall = 4}), op("LDS R4, [R2]", {.stall = 2, .write = 0}),
                               op("MUFU.EX2 R5, R4", {.stall = 2, .write = 1, .wait = {0}}),
                               op("FFMA R6, R5, R4, R6", {.wait = {1}}), op("BRA `(.L_1)", {.stall = 5})});

TEST(Account, StatesSumToResidentWarpCycles) {
  const Replay run = replay(one_sm("h100_sxm"), KernelText("k", "sm_90").ctas(7).role("warps", 6, kMixed).kernel());
  EXPECT_EQ(all_states(run.outcome.kernels[0]), run.outcome.kernels[0].resident_warp_cycles);
}

TEST(Account, AWarpIsResidentFromItsStartToItsExit) {
  const Replay run = replay(one_sm("h100_sxm"), on_all_sub_cores("sm_90", 6, kMixed));
  uint64_t resident = 0;
  for (const auto& warp : run.issues[0]) resident += warp.back() + 1;
  EXPECT_EQ(run.outcome.kernels[0].resident_warp_cycles, resident);
}

TEST(Account, EachStateOfASingleWarp) {
  const Replay run =
      replay(one_sm("rtx_a6000"), on_all_sub_cores("sm_86", 1,
                                                   {op("IADD3 R1, R2, R3, RZ", {.stall = 6}),           // 5 wait
                                                    op("LDS R4, [R2]", {.stall = 2, .write = 0}),       // 1 wait
                                                    op("MOV R5, R4", {.stall = 1, .wait = {0}}),        // 22 short scoreboard
                                                    op("MOV R6, R7"),                                   // 1 math pipe throttle
                                                    op("LDG.E R4, [R2.64]", {.stall = 2, .write = 1}),  // 1 wait
                                                    op("BRA `(.L_1)", {.stall = 5, .wait = {1}})}));    // 30 long, 4 branch
  EXPECT_EQ(run.state(0, WarpState::kSelected), 7);
  EXPECT_EQ(run.state(0, WarpState::kWait), 5 + 1 + 1);
  EXPECT_EQ(run.state(0, WarpState::kShortScoreboard), 22);
  EXPECT_EQ(run.state(0, WarpState::kMathPipeThrottle), 1);
  EXPECT_EQ(run.state(0, WarpState::kLongScoreboard), 30);
  EXPECT_EQ(run.state(0, WarpState::kBranchResolving), 4);
  EXPECT_EQ(all_states(run.outcome.kernels[0]), 7U + 7 + 22 + 1 + 30 + 4);
  EXPECT_EQ(run.outcome.total_cycles, 71);
}

TEST(Account, BarrierAndGmmaAreStatesOfTheirOwn) {
  const traces::Kernel barrier =
      KernelText("barrier", "sm_90")
          .role("early", 1, {op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0"), op("NOP")})
          .role("late", 3,
                join(repeat(10, {op("NOP", {.stall = 15})}), {op("BAR.SYNC.DEFER_BLOCKING 0x0", {}, "barrier=0"), op("NOP")}))
          .kernel();
  EXPECT_GE(replay(one_sm("h100_sxm"), barrier).state(0, WarpState::kBarrier), 150);
  EXPECT_EQ(replay(one_sm("h100_sxm"), wgmma_kernel({256, false, 1})).state(0, WarpState::kGmma), 4 * (177 - 1));
}

TEST(Account, InstructionsIssuedAreThoseOfTheTrace) {
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .ctas(5)
                                    .role("a", 3, loop(7, join(kMixed, {op("NOP")})))
                                    .role("b", 2, {op("NOP"), op("NOP")})
                                    .kernel();
  const Replay run = replay(one_sm("h100_sxm"), kernel);
  EXPECT_EQ(run.outcome.kernels[0].instructions, traces::issued_instructions(kernel));
  EXPECT_EQ(run.state(0, WarpState::kSelected), traces::issued_instructions(kernel));
  EXPECT_EQ(run.busy("issue_slot"), traces::issued_instructions(kernel));
}

TEST(Account, BytesRequestedAreBytesServed) {
  const traces::Kernel kernel = KernelText("k", "sm_90")
                                    .ctas(9)
                                    .declare("stream in read dram=1/4")
                                    .declare("stream out write dram=1/1")
                                    .role("warps", 4,
                                          loop(20, {op("LDG.E.128 R4, [R2.64]", {.stall = 2, .write = 0}, "bytes=512 stream=0"),
                                                    op("STG.E.128 [R2.64], R4", {.wait = {0}}, "bytes=512 stream=1")}))
                                    .kernel();
  const Replay run = replay(one_sm("h100_sxm"), kernel);
  const uint64_t each = 9ULL * 4 * 20 * 512;
  EXPECT_EQ(run.outcome.kernels[0].l2_bytes, 2 * each);
  EXPECT_EQ(run.outcome.kernels[0].l2_bytes_served, 2 * each);
  EXPECT_EQ(run.outcome.kernels[0].dram_bytes, each / 4 + each);
  EXPECT_EQ(run.busy("l2_read"), each);
  EXPECT_EQ(run.busy("l2_write"), each);
}

// All SMs are one class, so the chip's counters are those of one SM times the number of SMs.
TEST(Account, CountersAreSumsOverTheSms) {
  configs::Gpu gpu = one_sm("h100_sxm");
  const auto on = [&](uint32_t sms, uint64_t ctas) {
    gpu.set_sm_count(sms);
    return replay(gpu, KernelText("k", "sm_90").ctas(ctas).role("warps", 4, kMixed).kernel());
  };
  const Replay one = on(1, 3);
  const Replay chip = on(132, 3 * 132);
  EXPECT_EQ(chip.outcome.sm_classes, 1);
  EXPECT_EQ(chip.outcome.total_cycles, one.outcome.total_cycles);
  for (int s = 0; s < sim::kWarpStates; ++s) {
    EXPECT_EQ(chip.outcome.kernels[0].states[static_cast<size_t>(s)], 132 * one.outcome.kernels[0].states[static_cast<size_t>(s)]);
  }
  EXPECT_EQ(chip.outcome.kernels[0].instructions, 132 * one.outcome.kernels[0].instructions);
}

TEST(Sequential, TakesTheSumOfTheKernelsAndTheLaunchGaps) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_kernel_launch_cycles(500);
  const traces::Kernel a = KernelText("a", "sm_90").ctas(5).role("warps", 4, kMixed).kernel();
  const traces::Kernel b = on_all_sub_cores("sm_90", 16, repeat(30, {op("FFMA R1, R2, R3, R5")}), "b");
  const std::vector<sim::Launch> launches = {launch(a, 0), launch(b, 1), launch(a, 2)};
  const uint64_t a_alone = replay(gpu, a).outcome.total_cycles;
  const uint64_t b_alone = replay(gpu, b).outcome.total_cycles;
  const Replay run = replay(gpu, launches, true);
  EXPECT_EQ(run.outcome.total_cycles, 2 * a_alone + b_alone + 2 * 500);
  EXPECT_EQ(run.outcome.kernels[1].start_cycle, a_alone + 500);
  EXPECT_EQ(run.outcome.kernels[2].start_cycle, a_alone + b_alone + 1000);
  for (size_t k = 0; k < 3; ++k) {
    const uint64_t cycles = run.outcome.kernels[k].end_cycle - run.outcome.kernels[k].start_cycle;
    EXPECT_EQ(cycles, k == 1 ? b_alone : a_alone);
  }
}

// Without a gap, the second launch starts in the cycle in which the first one's last CTA ends.
TEST(Sequential, WorksWithoutALaunchGap) {
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 8, loop(5, {op("IADD3 R1, R2, R3, RZ"), op("LDS R4, [R2]")}));
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_kernel_launch_cycles(0);
  const Replay run = replay(gpu, {launch(kernel, 0), launch(kernel, 1)}, true);
  for (const auto& warp : run.issues[1]) EXPECT_LT(warp.front(), run.outcome.kernels[1].start_cycle + 40);
}

TEST(Sequential, LaunchesOfAStreamAndDependencesWait) {
  configs::Gpu gpu = one_sm("h100_sxm");
  gpu.set_kernel_launch_cycles(500);
  const traces::Kernel kernel = on_all_sub_cores("sm_90", 4, repeat(30, {op("NOP", {.stall = 10})}));
  const uint64_t alone = replay(gpu, kernel).outcome.total_cycles;
  std::vector<sim::Launch> launches = {launch(kernel, 0), launch(kernel, 0), launch(kernel, 1), launch(kernel, 2)};
  launches[3].after = {2};
  const Replay run = replay(gpu, launches);
  EXPECT_EQ(run.outcome.kernels[0].start_cycle, 0);
  EXPECT_GE(run.outcome.kernels[1].start_cycle, alone + 500);
  EXPECT_LT(run.outcome.kernels[2].start_cycle, alone);
  EXPECT_EQ(run.outcome.kernels[3].start_cycle, run.outcome.kernels[2].end_cycle + 500);
}

}  // namespace
}  // namespace warpfold::test
