// Additions in L2: all threads of the chip add to one word, to one word per warp, or to one word per thread. Source:
// docs/validation/h100_kit.csv and h200_kit.csv, RED.ADD and ATOM.ADD (tools/silicon/atomics.cu): 528 CTAs of 256
// threads, 64 additions a thread. The GPU files are fitted to the rows of RED below.

#include <gtest/gtest.h>

#include <iostream>
#include <string>

#include "configs/load.h"
#include "tests/source_dir.h"
#include "tests/support/machine.h"

namespace warpfold::test {
namespace {

struct Row {
  std::string number;
  std::string gpu;
  std::string mnemonic;
  std::string effect;
  double measured;  // additions a cycle of the chip
};

std::ostream& operator<<(std::ostream& stream, const Row& row) { return stream << row.number << ' ' << row.mnemonic; }

// Returns the simulated additions a cycle over the measured ones.
double ratio_of(const Row& row) {
  const auto gpu = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/" + row.gpu + ".textproto");
  const bool returns = row.mnemonic.starts_with("ATOM");
  const std::string line = row.mnemonic + (returns ? " PT, R4, [R2.64], R5" : " [R2.64], R5");
  const Lines eight = repeat(8, {op(line, returns ? Control{.write = 0} : Control{}, row.effect + " stream=y")});
  const Lines add = join(returns ? Lines{op("IADD3 R6, R4, R6, RZ", {.stall = 5, .wait = {0}})} : Lines{}, eight);
  const traces::Kernel kernel = KernelText("additions", "sm_90")
                                    .declare(returns ? "stream y read dram=0/1" : "stream y write dram=0/1")
                                    .ctas(528)
                                    .role("all", 8, loop(8, join(add, {op("BRA `(.L_1)", {.stall = 5})})))
                                    .kernel();
  const sim::Outcome run = outcome(gpu.value(), {launch(kernel), launch(kernel)}, {});
  const auto cycles = static_cast<double>(run.kernels[1].end_cycle - run.kernels[0].end_cycle);
  const double rate = 528.0 * 256 * 64 / cycles;
  std::cout << row << ": " << rate << " additions a cycle, measured " << row.measured << " (" << 100 * (rate / row.measured - 1)
            << " %)\n";
  return rate / row.measured;
}

class Additions : public testing::TestWithParam<Row> {};

TEST_P(Additions, PassAsOnSilicon) { EXPECT_NEAR(ratio_of(GetParam()), 1, 0.15); }

const std::string kOne = "bytes=32 l2_passes=32 l2_sectors=1";
const std::string kOfWarp = "bytes=32 l2_passes=32 l2_sectors=4224";
const std::string kApart = "bytes=128";

INSTANTIATE_TEST_SUITE_P(Kit, Additions,
                         testing::Values(Row{"K476", "h100_sxm", "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", kOne, 0.28772},
                                         Row{"K468", "h100_sxm", "RED.E.ADD.STRONG.GPU", kOne, 0.68865},
                                         Row{"K480", "h100_sxm", "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU", kOne, 0.28774},
                                         Row{"K472", "h100_sxm", "ATOM.E.ADD.STRONG.GPU", kOne, 0.69017},
                                         Row{"K477", "h100_sxm", "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", kOfWarp, 28.8140},
                                         Row{"K469", "h100_sxm", "RED.E.ADD.STRONG.GPU", kOfWarp, 30.0434},
                                         Row{"K481", "h100_sxm", "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU", kOfWarp, 25.8379},
                                         Row{"K473", "h100_sxm", "ATOM.E.ADD.STRONG.GPU", kOfWarp, 26.6002}),
                         [](const testing::TestParamInfo<Row>& row) { return row.param.number; });

// Missed (D117): in the model, an instruction's first pass over a sector takes no longer than a store.
TEST(AdditionsMissed, AWordALaneIsFiveTimesTooFast) {
  for (const Row& row : {Row{"K479", "h100_sxm", "RED.E.ADD.F32.FTZ.RN.STRONG.GPU", kApart, 211.840},
                         Row{"K471", "h100_sxm", "RED.E.ADD.STRONG.GPU", kApart, 208.339},
                         Row{"K483", "h100_sxm", "ATOM.E.ADD.F32.FTZ.RN.STRONG.GPU", kApart, 170.601},
                         Row{"K475", "h100_sxm", "ATOM.E.ADD.STRONG.GPU", kApart, 168.452}}) {
    EXPECT_NEAR(ratio_of(row), 5.2, 0.6);
  }
}

}  // namespace
}  // namespace warpfold::test
