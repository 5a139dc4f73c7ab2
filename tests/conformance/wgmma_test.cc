// Hopper's asynchronous tensor pipe.
// Sources: cicuvc wgmma.md (H800 PCIe and H20: intervals, wavefronts, completion, priority), Luo et al. (rates by N).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

// Returns the issue interval of one chain in steady state.
double interval(int columns, bool a_in_registers) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const auto cycles = [&](int count) {
    return static_cast<double>(replay(gpu, wgmma_kernel({columns, a_in_registers, count})).outcome.total_cycles);
  };
  return (cycles(300) - cycles(100)) / 200;
}

// Returns the cycles from the issue of a single command to the release of its group.
uint64_t completion(int columns, bool a_in_registers) {
  const Replay run = replay(one_sm("h100_sxm"), wgmma_kernel({columns, a_in_registers, 1}));
  return run.warp(3).at(2) - run.warp(3).at(1);
}

// m64nN takes N/2 cycles of tensor time, with A in shared memory or in registers (n256, Luo: 128.0). Measured: n64 30.4
// to 35.3, n128 67.4.
TEST(WgmmaInterval, TensorTimeBindsFrom64Columns) {
  for (const bool a_in_registers : {false, true}) {
    EXPECT_DOUBLE_EQ(interval(64, a_in_registers), 32);
    EXPECT_DOUBLE_EQ(interval(128, a_in_registers), 64);
    EXPECT_DOUBLE_EQ(interval(256, a_in_registers), 128);
  }
}

// With A and B in shared memory, 16 + N/4 wavefronts are the limit. Measured: n8 17.4 to 21.0, n16 19.2 to 22.8, n32
// 27.0.
TEST(WgmmaInterval, SharedMemoryBindsWithFewColumns) {
  EXPECT_DOUBLE_EQ(interval(8, false), 18);
  EXPECT_DOUBLE_EQ(interval(16, false), 20);
  EXPECT_DOUBLE_EQ(interval(32, false), 24);
}

// With A in registers, the least interval of commands is the limit. Measured: 12.0 for n8 and n16.
TEST(WgmmaInterval, CommandFloorBindsWithAInRegisters) {
  EXPECT_DOUBLE_EQ(interval(8, true), 12);
  EXPECT_DOUBLE_EQ(interval(16, true), 12);
  EXPECT_DOUBLE_EQ(interval(32, true), 16);
}

TEST(WgmmaCompletion, FortyNineAndOneForEachAccumulatorRegister) {
  EXPECT_EQ(completion(8, false), 53);
  EXPECT_EQ(completion(16, false), 57);
  EXPECT_EQ(completion(64, false), 81);
  EXPECT_EQ(completion(256, false), 177);
}

// Measured: with A in registers, completion is about 18 cycles shorter, the time of A's wavefronts.
TEST(WgmmaCompletion, AInRegistersIsAbout18CyclesShorter) {
  for (const int columns : {16, 64, 256})
    EXPECT_NEAR(static_cast<double>(completion(columns, false) - completion(columns, true)), 18, 2);
}

TEST(WgmmaWavefronts, SixteenForAAndAQuarterOfTheColumnsForB) {
  for (const int columns : {8, 16, 32, 64, 128, 256}) {
    const auto wavefronts = [&](bool a_in_registers) {
      return replay(one_sm("h100_sxm"), wgmma_kernel({columns, a_in_registers, 40})).busy("shared_memory");
    };
    EXPECT_EQ(wavefronts(false), 40U * (16 + static_cast<unsigned>(columns) / 4)) << columns;
    EXPECT_EQ(wavefronts(true), 40U * (static_cast<unsigned>(columns) / 4)) << columns;
  }
}

// The command FIFO has 7 entries. The command that runs and the next seven issue back to back; the one after them waits
// for the pipe.
TEST(WgmmaFifo, SevenCommandsQueueBehindTheOneThatRuns) {
  const Replay run = replay(one_sm("h100_sxm"), wgmma_kernel({256, false, 12}));
  const std::vector<uint64_t>& issues = run.warp(0);
  for (size_t i = 2; i <= 8; ++i) EXPECT_EQ(issues[i] - issues[i - 1], 1) << i;
  EXPECT_GT(issues[9] - issues[8], 100);
  EXPECT_EQ(issues[11] - issues[10], 128);
}

// wgmma has priority at the shared-memory data stage: a flood of LDS loses exactly the operand wavefronts. Between two
// commands that would fill the stage, the flood gets one wavefront, and wgmma loses one cycle.
class WgmmaPriority : public testing::TestWithParam<WgmmaChain> {};

TEST_P(WgmmaPriority, AnLdsFloodLosesExactlyTheOperandWavefronts) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  // wgmma starts after the first loads. The flood ends when its last load has returned, after the data stage has served
  // it.
  const traces::Kernel wgmma =
      on_all_sub_cores("sm_90", 4, join(repeat(4, {op("NOP", {.stall = 15})}), wgmma_lines(GetParam())), "wgmma");
  const Lines loads =
      join(loop(8000, {op("LDS R4, [R2]")}), {op("LDS R4, [R2]", {.stall = 2, .write = 0}), op("NOP", {.wait = {0}})});
  const traces::Kernel flood = on_all_sub_cores("sm_90", 12, loads, "flood");
  const Replay alone = replay(gpu, wgmma);
  const Replay flood_alone = replay(gpu, flood);
  const Replay both = replay_together(gpu, {flood, wgmma});
  ASSERT_GT(both.outcome.kernels[0].end_cycle, both.outcome.kernels[1].end_cycle);  // the flood covers the whole chain
  const auto flood_cycles = [](const Replay& run) {
    uint64_t first = run.outcome.total_cycles;
    for (const auto& warp : run.issues[0]) first = std::min(first, warp.front());
    return run.outcome.kernels[0].end_cycle - first;
  };
  EXPECT_EQ(flood_cycles(both) - flood_cycles(flood_alone), alone.busy("shared_memory"));
  EXPECT_GT(both.ledger(0, 1, sim::Contended::kSharedMemory), 0);
  // Apart from that cycle for each command, wgmma loses issue slots only.
  const bool binds =
      alone.busy("shared_memory") / static_cast<uint64_t>(GetParam().count) >= static_cast<uint64_t>(GetParam().columns) / 2;
  const uint64_t given_way = binds ? static_cast<uint64_t>(GetParam().count) : 0;
  EXPECT_LE(both.outcome.kernels[1].end_cycle - alone.outcome.kernels[0].end_cycle,
            both.state(1, sim::WarpState::kNotSelected) + given_way);
  EXPECT_EQ(both.warp(0, 1).at(160) - both.warp(0, 1).at(60), alone.warp(0).at(160) - alone.warp(0).at(60) + (binds ? 100 : 0));
}

INSTANTIATE_TEST_SUITE_P(Chains, WgmmaPriority,
                         testing::Values(WgmmaChain{64, false, 200}, WgmmaChain{128, false, 200}, WgmmaChain{256, true, 200},
                                         WgmmaChain{16, false, 400}),
                         testing::PrintToStringParamName());

// An independent second warpgroup adds no throughput: the SM has one tensor pipe.
TEST(WgmmaWarpgroups, ShareOnePipe) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const Lines lines = wgmma_lines({64, false, 100});
  const traces::Kernel two = KernelText("two", "sm_90").role("first", 4, lines).role("second", 4, lines).kernel();
  const uint64_t one_cycles = replay(gpu, wgmma_kernel({64, false, 100})).outcome.total_cycles;
  EXPECT_EQ(replay(gpu, two).outcome.total_cycles - one_cycles, 100 * 32);
}

}  // namespace
}  // namespace warpfold::test
