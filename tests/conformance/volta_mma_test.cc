// Volta's mma.m8n8k4: HMMA.884 in steps. Sources: Raihan et al., ISPASS 2019 (arXiv 1811.08309: Titan V, cumulative
// cycles of the steps of one wmma), NVIDIA's V100 whitepaper (1024 FLOP a cycle and SM: 125 TFLOPS), compiled code
// (isa/tables/sm_70.textproto).

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

// Writes the steps of one product. Its sums are in register pairs from `sum` on, one pair a step. `after_the_last`:
// waits for the product before.
Lines product(int sum, bool after_the_last) {
  Lines lines;
  for (int step = 0; step < 4; ++step) {
    const std::string registers = "R" + std::to_string(sum + 2 * step);
    Control control{.stall = 2};
    if (step == 0 && after_the_last) control.wait = {5};
    if (step == 3) control.write = 5;
    lines.push_back(
        op(text({"HMMA.884.F32.F32.STEP", std::to_string(step), " ", registers, ", R80.reuse.ROW, R84.reuse.COL, ", registers}),
           control));
  }
  return lines;
}

// Four steps of two cycles do 2 x 8 x 8 x 4 x 4 operations: 256 a cycle and sub-core, with any number of warps.
TEST(VoltaMma, OneStepInTwoCycles) {
  const Lines independent = join(join(product(0, false), product(8, false)), join(product(16, false), product(24, false)));
  EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm("v100_16gb"), independent, 1), 2);
  EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm("v100_16gb"), independent, 4), 2);
}

TEST(VoltaMma, SumsInHalfPrecisionHaveTwoStepsOfFourCycles) {
  const Lines lines = {op("HMMA.884.F16.F16.STEP0 R0, R80.reuse.ROW, R84.reuse.COL, R0"),
                       op("HMMA.884.F16.F16.STEP1 R2, R80.ROW, R84.COL, R2")};
  EXPECT_DOUBLE_EQ(cycles_per_instruction(one_sm("v100_16gb"), lines, 4), 4);
}

// Measured on a Titan V: steps end 10, 12, 14 and 18 cycles after the first clock read, then 20, 22, 24, 28. A product
// that adds to the sums of the product before begins 10 cycles after it.
TEST(VoltaMma, DependentProductsAreTenCyclesApart) {
  const Replay run =
      replay(one_sm("v100_16gb"), on_one_sub_core("sm_70", {join(product(0, false), join(product(0, true), product(0, true)))}));
  const std::vector<uint64_t>& issues = run.warp(0);
  EXPECT_EQ(issues.at(1) - issues.at(0), 2);
  EXPECT_EQ(issues.at(3) - issues.at(0), 6);
  EXPECT_EQ(issues.at(4) - issues.at(0), 10);
  EXPECT_EQ(issues.at(8) - issues.at(4), 10);
}

// The simulated rate, at the data sheet's clock, is that of the data sheet.
TEST(VoltaMma, TensorCoresReachTheDataSheet) {
  const configs::Gpu gpu = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/v100_16gb.textproto").value();
  const Lines lines = join(product(0, false), product(8, false));
  const double step = cycles_per_instruction(one_sm("v100_16gb"), lines, 2);
  const double flop_a_cycle = 4 * 2 * 8 * 8 * 4 * 4 / (4 * step);  // of the SM's four sub-cores
  const double tflops = flop_a_cycle * gpu.sm_count() * gpu.data_sheet().tensor_clock_mhz() * 1e-6;
  EXPECT_NEAR(tflops, gpu.data_sheet().fp16_tflops(), 0.5);
}

}  // namespace
}  // namespace warpfold::test
