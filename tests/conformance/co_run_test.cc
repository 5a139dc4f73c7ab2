// A wgmma chain beside other work on the same SM: measured evidence for random numbers beside a GEMM. Source: cicuvc
// register_bandwidth.md (H800): m64n16k16 SS chain, 21.5 cycles each alone, with 12 warps of a co-runner. The tests
// compare slow-downs, since the simulated chain alone takes 20 cycles each (16 + N/4 wavefronts).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iostream>

#include "tests/support/wgmma.h"

namespace warpfold::test {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::Le;

constexpr int kChain = 600;
// Instructions of a loop body. A short loop that fills one bank's port falls into step with the completions, and the
// test would measure the loop's length.
constexpr int kLongBody = 160;

// Returns the issue interval in the middle of the chain, where the FIFO limits issue to the pipe's rate.
double steady_interval(const std::vector<uint64_t>& issues) { return static_cast<double>(issues.at(500) - issues.at(100)) / 400; }

struct Slowed {
  double alone;
  double beside;
  double factor() const { return beside / alone; }
};

Slowed beside(int columns, const Lines& co_runner) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const traces::Kernel wgmma = wgmma_kernel({columns, false, kChain});
  // The co-runner must last for the whole chain. Each pass takes at least one cycle an instruction.
  const uint64_t passes = 150ULL * kChain / co_runner.size() / 3 + 1;
  const traces::Kernel other =
      on_all_sub_cores("sm_90", 12, loop(passes, join(co_runner, {op("BRA `(.L_1)", {.stall = 5})})), "other");
  // The warpgroup is younger, so the issue policy turns to it whenever a loop ends. The remaining slow-down is not due
  // to issue slots.
  const Replay both = replay_together(gpu, {other, wgmma});
  EXPECT_GT(both.outcome.kernels[0].end_cycle, both.outcome.kernels[1].end_cycle);
  return {steady_interval(replay(gpu, wgmma).warp(0)), steady_interval(both.warp(0, 1))};
}

void report(const std::string& what, const Slowed& simulated, double measured_alone, double measured_beside) {
  std::cout << what << ": simulated " << simulated.alone << " -> " << simulated.beside << " (x" << simulated.factor()
            << "), measured " << measured_alone << " -> " << measured_beside << " (x" << measured_beside / measured_alone << ")\n";
}

TEST(WgmmaBeside, FfmaWithThreeFreshRegistersSlowsItDown) {
  const Slowed n16 = beside(16, three_fresh("FFMA", kLongBody));
  report("n16 beside FFMA with three fresh registers", n16, 21.5, 52.0);
  EXPECT_THAT(n16.factor(), AllOf(Ge(1.5), Le(4.0)));
}

// Missed: 64.3 cycles on an H800, 69 to 103 on an H100 (D29). The model's FFMA gives way to wgmma. On silicon, FFMA
// takes register bandwidth from wgmma.
TEST(WgmmaBeside, FfmaWithThreeFreshRegistersLeavesWideTilesAlone) {
  const Slowed n64 = beside(64, three_fresh("FFMA", kLongBody));
  report("n64 beside FFMA with three fresh registers", n64, 32, 64.3);
  EXPECT_LE(n64.factor(), 1.02);
}

TEST(WgmmaBeside, FfmaWithReuseHardlySlowsItDown) {
  const Slowed n16 = beside(16, repeat(16, {op("FFMA R4, R2.reuse, R3.reuse, R4"), op("FFMA R5, R2.reuse, R3.reuse, R5")}));
  report("n16 beside FFMA with two reused operands", n16, 21.5, 23.8);
  EXPECT_LE(n16.factor(), 1.2);
}

TEST(WgmmaBeside, ImadWithThreeFreshRegistersDoesNotSlowItDown) {
  const Slowed n16 = beside(16, three_fresh("IMAD", kLongBody));
  report("n16 beside IMAD with three fresh registers", n16, 21.5, 21.8);
  EXPECT_LE(n16.factor(), 1.05);
}

TEST(WgmmaBeside, XorshiftDoesNotSlowItDown) {
  const Lines xorshift = {op("SHF.L.U32 R2, R1, 0xd, RZ", {.stall = 4}), op("LOP3.LUT R1, R1, R2, RZ, 0x3c, !PT", {.stall = 4}),
                          op("SHF.R.U32 R2, RZ, 0x11, R1", {.stall = 4}), op("LOP3.LUT R1, R1, R2, RZ, 0x3c, !PT", {.stall = 4})};
  const Slowed n16 = beside(16, xorshift);
  report("n16 beside xorshift", n16, 21.5, 21.5);
  EXPECT_LE(n16.factor(), 1.05);
}

TEST(WgmmaBeside, SharedMemoryLoadsAndAdditionsDoNotSlowItDown) {
  const Slowed n16 = beside(16, repeat(32, {op("LDS R4, [R2]"), op("FADD R5, R6, R7")}));
  report("n16 beside LDS and FADD", n16, 21.5, 22.4);
  EXPECT_LE(n16.factor(), 1.05);
}

// Measured on an H100 SXM: wgmma with 64 columns or more runs at full rate beside integer, half-precision and packing
// streams.
TEST(WgmmaBeside, OneMathStreamLeavesItAtFullRate) {
  const std::vector<Lines> streams = {{op("IADD3 R1, R2, R3, R4"), op("LOP3.LUT R6, R2, R3, R5, 0x96, !PT")},
                                      {op("HFMA2 R1, R2, R3, R4"), op("HFMA2 R6, R2, R3, R5")},
                                      {op("F2FP.BF16.F32.PACK_AB R1, R2, R3"), op("F2FP.BF16.F32.PACK_AB R4, R2, R3")}};
  for (const Lines& stream : streams) {
    for (const int columns : {64, 128, 256}) {
      EXPECT_LE(beside(columns, repeat(16, stream)).factor(), 1.02) << stream[0] << " beside n" << columns;
    }
  }
}

// cicuvc register_bandwidth.md, round 3 (H800): 64 wgmma beside one warp a sub-core that issues MOV32I without pause,
// into registers or into RZ. The reported times per wgmma are those of the MOV32I: 2048 of them at 2.510 cycles take 64
// x 80.33, and at 2.002 nearly 64 x 64.6, for every width. The reason is that the ALU reads the clock at the chain's
// end, after the MOV32I have left it. So writes to registers cost cycles of the stream: 1.875, 3.891 and 15.687 per
// wgmma at n8, n16 and n64, one for each pair of accumulators.
TEST(BesideWgmma, MovesGiveWayToAccumulators) {
  const configs::Gpu gpu = one_sm("h100_sxm");
  const auto stream = [&](const std::string& to, int columns) {
    const traces::Kernel moves = on_all_sub_cores("sm_90", 1, repeat(2048, {op("MOV32I " + to + ", 0x3f800000")}), "moves");
    const Replay both = replay_together(gpu, {moves, wgmma_kernel({columns, false, 64})});
    return static_cast<double>(both.warp(0, 0).back() - both.warp(0, 0).front());
  };
  for (const auto& [columns, measured] : {std::pair{8, 1.875}, {16, 3.891}, {64, 15.687}}) {
    const double cost = (stream("R4", columns) - stream("RZ", columns)) / 64;
    std::cout << "MOV32I beside n" << columns << ": " << cost << " cycles a wgmma, measured " << measured << "\n";
    EXPECT_NEAR(cost, measured, 0.1 * measured) << columns;
    EXPECT_EQ(stream("R4", columns), stream("R5", columns)) << columns;
  }
}

}  // namespace
}  // namespace warpfold::test
