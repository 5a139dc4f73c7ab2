// warpfold occupancy: limits and curves follow from the GPU's description; a smaller footprint has the figures of a direct
// simulation.

#include <gmock/gmock.h>

#include <algorithm>
#include <stdexcept>

#include "configs/result.pb.h"
#include "program.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

const std::string kPair = WARPFOLD_SOURCE_DIR "/configs/scenarios/qkv_philox_small.textproto";
const std::string kAttention = WARPFOLD_SOURCE_DIR "/configs/scenarios/flash_attention_2_a100.textproto";

class Occupancy : public Program {};

const configs::CtaCurve& curve(const configs::KernelOccupancy& kernel, const std::string& what) {
  return *std::ranges::find(kernel.curves(), what, &configs::CtaCurve::what);
}

// Four warps of 255 registers: 4 x 32 x 256 of 65,536 registers leave room for two; 64 KiB and the system's 1 KiB of 164 KiB too.
TEST_F(Occupancy, NamesWhatBoundsTheCtasOfAnSm) {
  const configs::Result answer = message<configs::Result>({"occupancy", kAttention, "--set", "seq=512"});
  const configs::KernelOccupancy& kernel = answer.occupancy().kernels(0);
  EXPECT_EQ(kernel.ctas_per_sm(), 2);
  EXPECT_EQ(kernel.warps_per_sm(), 8);
  EXPECT_EQ(kernel.limits(0).resource(), "registers");
  EXPECT_EQ(curve(kernel, "registers_per_thread").now(), 255);
  EXPECT_EQ(curve(kernel, "warps_per_cta").points_size(), 32);
}

// 228 KiB of an H100: a kilobyte of each CTA is the system's, 32 CTAs at most.
TEST_F(Occupancy, DrawsCurvesOverRegistersSharedMemoryAndCtaSize) {
  const configs::Result answer = message<configs::Result>({"occupancy", kPair});
  const configs::KernelOccupancy& rng = answer.occupancy().kernels(1);
  const configs::CtaCurve& shared = curve(rng, "shared_memory_bytes");
  const configs::CtaCurvePoint& last = shared.points(shared.points_size() - 1);
  EXPECT_EQ(last.ctas(), 1);
  EXPECT_EQ(last.value(), 227 * 1024);
  EXPECT_EQ(shared.points(shared.points_size() - 2).value(), 113 * 1024);
  const configs::CtaCurve& registers = curve(rng, "registers_per_thread");
  for (int p = 1; p < registers.points_size(); ++p) {
    EXPECT_GT(registers.points(p).value(), registers.points(p - 1).value());
    EXPECT_LT(registers.points(p).ctas(), registers.points(p - 1).ctas());
  }
  EXPECT_EQ(curve(rng, "warps_per_cta").points(15).ctas(), 4);  // of 16 warps, in 64 warp slots
}

TEST_F(Occupancy, OfASmallerFootprintIsADirectSimulation) {
  const std::vector<std::string> smaller_grid{"--set", "heads=4"};
  std::vector<std::string> ask{"occupancy", kAttention};
  ask.insert(ask.end(), smaller_grid.begin(), smaller_grid.end());
  const configs::Result answer = message<configs::Result>(ask);
  const configs::KernelOccupancy& kernel = answer.occupancy().kernels(0);
  ASSERT_EQ(kernel.smaller_size(), 2) << kernel.no_smaller();
  EXPECT_EQ(kernel.smaller(0).ctas(), 3);
  EXPECT_EQ(kernel.smaller(1).ctas(), 4);
  EXPECT_EQ(kernel.smaller(1).registers_per_thread(), 128);
  for (const configs::SmallerFootprint& smaller : kernel.smaller()) {
    std::vector<std::string> direct{"simulate", kAttention};
    direct.insert(direct.end(), smaller_grid.begin(), smaller_grid.end());
    for (const std::string& setting : smaller.setting()) direct.insert(direct.end(), {"--set", setting});
    const configs::Result simulated = message<configs::Result>(direct);
    EXPECT_EQ(simulated.total_time_us(), smaller.total_time_us());
    EXPECT_EQ(simulated.kernels(0).occupancy().ctas_per_sm_limit(), smaller.ctas());
    EXPECT_NEAR(answer.total_time_us() / simulated.total_time_us(), smaller.speedup(), 1e-12);
  }
}

TEST_F(Occupancy, SaysWhyMoreCannotRun) {
  const configs::Result answer = message<configs::Result>({"occupancy", kPair});
  EXPECT_THAT(answer.occupancy().kernels(0).no_smaller(), HasSubstr("setmaxnreg"));
  EXPECT_EQ(answer.occupancy().kernels(1).no_smaller(), "the grid has fewer CTAs than fit");
  EXPECT_EQ(answer.occupancy().kernels(1).limiter(), "grid");
}

TEST_F(Occupancy, LeadsWithTheAdviceAndHasARowForEachFootprint) {
  EXPECT_THAT(run({"occupancy", kPair}).out,
              AllOf(StartsWith("qkv: 1 CTA an SM, limited by registers; no further CTA: "), HasSubstr("warps_per_cta")));
  const std::string csv = run({"occupancy", kPair, "--format", "csv"}).out;
  EXPECT_THAT(csv, StartsWith("scenario,policy,gpu,kernel,warps_per_cta,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 3);
}

TEST_F(Occupancy, RefusesFootprintsThatNoProgramHas) {
  EXPECT_THAT(refused({"occupancy", kPair, "--steps", "33"}), HasSubstr("--steps takes a number from 0 to 32, not \"33\""));
  EXPECT_THAT(refused({"simulate", kPair, "--set", "kernel.rng.footprint.registers_per_thread=256"}),
              HasSubstr("a thread has 1 to 255 registers, not 256"));
  EXPECT_THAT(refused({"simulate", kPair, "--set", "kernel.qkv.footprint.registers_per_thread=128"}),
              HasSubstr("divide the 160 registers of its launch"));
  EXPECT_THAT(refused({"simulate", kPair, "--set", "kernel.rng.footprint.shared_memory_bytes=999999"}), HasSubstr("can never fit"));
}

}  // namespace
}  // namespace warpfold::cli
