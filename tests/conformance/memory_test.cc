// Memory instructions: issue times and latencies.
// Source: Huerta et al., "Dissecting and Modeling the Architecture of Modern GPU Cores", MICRO 2025 (RTX A6000, sm_86).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// Returns, for each of ten independent loads that hit, its issue cycles on the active sub-cores, sorted. The first load
// issues in cycle 2.
std::vector<std::vector<uint64_t>> load_issue_times(uint32_t active) {
  const Lines loads = repeat(10, {op("LDG.E R4, [R2.64]", {.write = 0})});
  const Replay run = replay(one_sm("rtx_a6000"), on_all_sub_cores("sm_86", active, loads));
  std::vector<std::vector<uint64_t>> times(10);
  for (size_t i = 0; i < times.size(); ++i) {
    for (uint32_t w = 0; w < active; ++w) times[i].push_back(run.warp(w).at(i) - run.warp(0).at(0) + 2);
    std::ranges::sort(times[i]);
  }
  return times;
}

using Times = std::vector<std::vector<uint64_t>>;

Times with_first_five(uint32_t active, const Times& rest) {
  Times all;
  for (uint64_t cycle = 2; cycle <= 6; ++cycle) all.emplace_back(active, cycle);
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

TEST(MemoryIssue, OneActiveSubCore) { EXPECT_EQ(load_issue_times(1), with_first_five(1, {{13}, {17}, {21}, {25}, {29}})); }

TEST(MemoryIssue, TwoActiveSubCores) {
  EXPECT_EQ(load_issue_times(2), with_first_five(2, {{13, 15}, {17, 19}, {21, 23}, {25, 27}, {29, 31}}));
}

TEST(MemoryIssue, ThreeActiveSubCores) {
  EXPECT_EQ(load_issue_times(3), with_first_five(3, {{13, 15, 17}, {19, 21, 23}, {25, 27, 29}, {31, 33, 35}, {37, 39, 41}}));
}

TEST(MemoryIssue, FourActiveSubCores) {
  EXPECT_EQ(load_issue_times(4),
            with_first_five(4, {{13, 15, 17, 19}, {21, 23, 25, 27}, {29, 31, 33, 35}, {37, 39, 41, 43}, {45, 47, 49, 51}}));
}

// Returns the cycles from an instruction's issue to the earliest consumer (write counter) or to the earliest overwrite
// of a source (read counter).
uint64_t wait_for(const std::string& instruction, const Control& control) {
  const Lines lines = {op(instruction, control), op("NOP", {.wait = {0}})};
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  return run.warp(0).at(1) - run.warp(0).at(0);
}
uint64_t raw(const std::string& load) { return wait_for(load, {.stall = 2, .write = 0}); }
uint64_t war(const std::string& instruction) { return wait_for(instruction, {.stall = 2, .read = 0}); }

struct Latency {
  std::string instruction;
  uint64_t war;
  uint64_t raw;  // 0: no result
};

std::ostream& operator<<(std::ostream& stream, const Latency& row) { return stream << row.instruction; }
std::string latency_name(const testing::TestParamInfo<Latency>& info) { return test_name(info.param.instruction); }

class MemoryLatency : public testing::TestWithParam<Latency> {};

TEST_P(MemoryLatency, ReadAndWriteCounters) {
  const Latency& row = GetParam();
  EXPECT_EQ(war(row.instruction), row.war) << row.instruction;
  if (row.raw > 0) {
    EXPECT_EQ(raw(row.instruction), row.raw) << row.instruction;
  }
}

INSTANTIATE_TEST_SUITE_P(LoadGlobal, MemoryLatency,
                         testing::Values(Latency{"LDG.E R4, [UR4]", 9, 29}, Latency{"LDG.E.64 R4, [UR4]", 9, 31},
                                         Latency{"LDG.E.128 R4, [UR4]", 9, 35}, Latency{"LDG.E R4, [R2.64]", 11, 32},
                                         Latency{"LDG.E.64 R4, [R2.64]", 11, 34}, Latency{"LDG.E.128 R4, [R2.64]", 11, 38}),
                         latency_name);
INSTANTIATE_TEST_SUITE_P(StoreGlobal, MemoryLatency,
                         testing::Values(Latency{"STG.E [UR4], R4", 10, 0}, Latency{"STG.E.64 [UR4], R4", 12, 0},
                                         Latency{"STG.E.128 [UR4], R4", 16, 0}, Latency{"STG.E [R2.64], R4", 14, 0},
                                         Latency{"STG.E.64 [R2.64], R4", 16, 0}, Latency{"STG.E.128 [R2.64], R4", 20, 0}),
                         latency_name);
INSTANTIATE_TEST_SUITE_P(LoadShared, MemoryLatency,
                         testing::Values(Latency{"LDS R4, [UR4]", 9, 23}, Latency{"LDS.64 R4, [UR4]", 9, 23},
                                         Latency{"LDS.128 R4, [UR4]", 9, 25}, Latency{"LDS R4, [R2]", 9, 24},
                                         Latency{"LDS.64 R4, [R2]", 9, 24}, Latency{"LDS.128 R4, [R2]", 9, 26}),
                         latency_name);
INSTANTIATE_TEST_SUITE_P(StoreShared, MemoryLatency,
                         testing::Values(Latency{"STS [UR4], R4", 10, 0}, Latency{"STS.64 [UR4], R4", 12, 0},
                                         Latency{"STS.128 [UR4], R4", 16, 0}, Latency{"STS [R2], R4", 12, 0},
                                         Latency{"STS.64 [R2], R4", 14, 0}, Latency{"STS.128 [R2], R4", 18, 0}),
                         latency_name);
INSTANTIATE_TEST_SUITE_P(LoadConstant, MemoryLatency,
                         testing::Values(Latency{"LDC R4, c[0x0][0x160]", 10, 26}, Latency{"LDC R4, c[0x0][R2]", 29, 29},
                                         Latency{"LDC.64 R4, c[0x0][R2]", 29, 29}),
                         latency_name);
INSTANTIATE_TEST_SUITE_P(CopyAsync, MemoryLatency,
                         testing::Values(Latency{"LDGSTS.E [R6], [R2.64]", 13, 39}, Latency{"LDGSTS.E.64 [R6], [R2.64]", 13, 39},
                                         Latency{"LDGSTS.E.128 [R6], [R2.64]", 13, 39}),
                         latency_name);

TEST(CopyAsyncGroups, AWaitForTheGroupTakesAsLongAsTheCopy) {
  const Lines lines = {op("LDGSTS.E.128 [R6], [R2.64]"), op("LDGDEPBAR"), op("DEPBAR.LE.LDGSTS SB0, 0x0", {.stall = 4})};
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  EXPECT_EQ(run.warp(0).at(2) - run.warp(0).at(0), 39);
}

TEST(CopyAsyncGroups, CommitsDoNotFillTheMemoryQueue) {
  const Lines lines = repeat(20, {op("LDGDEPBAR", {.stall = 15})});
  const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
  ASSERT_FALSE(run.outcome.deadlocked) << run.outcome.deadlock.report;
  EXPECT_EQ(run.warp(0).at(19) - run.warp(0).at(0), 19 * 15);
}

// Loads return to registers at 512 bits a cycle: 2 / 4 / 8 cycles for 32 / 64 / 128 bits a thread. Loads of one
// sub-core issue every four cycles; 128-bit loads return every eight.
TEST(LoadReturn, WideLoadsReturnAt512BitsACycle) {
  const auto last_use = [](const std::string& load) {
    const Lines lines = join(repeat(20, {op(load, {.stall = 8, .write = 0})}), {op("NOP", {.wait = {0}})});
    const Replay run = replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines}));
    return run.warp(0).at(20) - run.warp(0).at(19);
  };
  EXPECT_EQ(last_use("LDG.E R4, [R2.64]"), 32);
  EXPECT_EQ(last_use("LDG.E.128 R4, [R2.64]"), 38);
}

// If all lanes read the same words, two registers return in a pass: half as many passes as for words of their own.
// Source: G. Smith (NVIDIA), forums.developer.nvidia.com/t/77228: "from 4 to 2" of LDS.128. Stores do not gain.
TEST(SharedMemory, OneAddressHalvesThePassesOfAWideLoad) {
  const auto passes = [](const std::string& access, const std::string& effect) {
    const Lines lines = repeat(10, {op(access, {.stall = 8}, effect)});
    return replay(one_sm("rtx_a6000"), on_one_sub_core("sm_86", {lines})).busy("shared_memory");
  };
  EXPECT_EQ(passes("LDS.128 R4, [R2]", ""), 40);
  EXPECT_EQ(passes("LDS.128 R4, [R2]", "wavefronts=2"), 20);
  EXPECT_EQ(passes("LDS.128 R4, [R2]", "wavefronts=1"), 20);
  EXPECT_EQ(passes("LDS.64 R4, [R2]", "wavefronts=1"), 10);
  EXPECT_EQ(passes("LDS R4, [R2]", "wavefronts=1"), 10);
  EXPECT_EQ(passes("STS.128 [R2], R4", "wavefronts=1"), 40);
}

// Loads that hit in L2, in which each of 32 lanes reads a line of its own: one sector of it, two neighbouring sectors,
// or all four. Measured on an H100: 2,190, 3,940 and 3,920 bytes a cycle; on an H200: 2,560, 4,570 and 4,550
// (docs/notebook/silicon.md).
TEST(L2Reads, ALoneSectorTakesTheTimeOfAPair) {
  const configs::Gpu gpu = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/h100_sxm.textproto").value();
  const auto bytes_per_cycle = [&gpu](uint32_t bytes, const std::string& passes) {
    const std::string effect = "stream=x bytes=" + std::to_string(bytes) + passes;
    const traces::Kernel kernel = KernelText("loads", "sm_90")
                                      .declare("stream x read dram=0/1")
                                      .ctas(264)
                                      .role("all", 16, loop(8, repeat(8, {op("LDG.E R4, [R2.64]", {.write = 0}, effect)})))
                                      .kernel();
    return 264.0 * 16 * 64 * bytes / static_cast<double>(outcome(gpu, {launch(kernel)}, {}).total_cycles);
  };
  const double pairs = bytes_per_cycle(2048, " l2_passes=32");
  EXPECT_NEAR(bytes_per_cycle(1024, " l2_passes=32") / pairs, 2190.0 / 3940, 0.08);
  EXPECT_NEAR(bytes_per_cycle(4096, "") / pairs, 3920.0 / 3940, 0.08);
}

}  // namespace
}  // namespace warpfold::test
