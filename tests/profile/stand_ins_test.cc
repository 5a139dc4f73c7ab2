// Launches of which only a measurement is known: stand-ins that take as long.

#include "tools/warpfold/run/stand_ins.h"

#include <gmock/gmock.h>

#include <stdexcept>

#include "configs/load.h"
#include "tests/source_dir.h"

namespace warpfold::cli {
namespace {

using testing::HasSubstr;

class StandIns : public testing::TestWithParam<configs::OpaqueDemand> {
 protected:
  std::vector<Outcome<StandIn>> of(std::vector<OpaqueLaunch> launches) {
    for (OpaqueLaunch& launch : launches) launch.demand = GetParam();
    auto made = stand_ins(launches, gpu_, points_);
    if (!made) throw std::runtime_error(made.error().text);
    return std::move(*made);
  }

  configs::Gpu gpu_ = configs::load_gpu(WARPFOLD_SOURCE_DIR "/configs/gpus/h100_sxm.textproto").value();
  RunOptions how_;
  ValidationPoints points_{how_, "", ""};
};

// From part of a wave to hundreds of them, from a warp to 32.
TEST_P(StandIns, TakeTheMeasuredTime) {
  const std::vector<OpaqueLaunch> launches{{16, 512, 96, 40960, 180},
                                           {132, 1024, 64, 0, 40},
                                           {1000, 256, 32, 0, 25},
                                           {32768, 128, 32, 0, 75},
                                           {264, 32, 255, 65536, 1000}};
  const auto made = of(launches);
  ASSERT_EQ(made.size(), launches.size());
  for (size_t l = 0; l < launches.size(); ++l) {
    ASSERT_TRUE(made[l]) << made[l].error().text;
    EXPECT_NEAR(made[l]->us, launches[l].us, 0.03 * launches[l].us) << launches[l].ctas << " CTAs";
    const configs::Kernel& kernel = made[l]->run.scenario.kernel(0);
    EXPECT_EQ(kernel.opaque().ctas(), launches[l].ctas);
    EXPECT_EQ(kernel.footprint().shared_memory_bytes(), launches[l].shared_memory_bytes);
    EXPECT_EQ(kernel.footprint().registers_per_thread(), launches[l].registers_per_thread);
  }
}

TEST_P(StandIns, SayWhenThereIsNone) {
  const auto made = of({{1'000'000, 256, 32, 0, 2}, {100, 256, 32, 1'000'000, 20}, {100, 1024, 255, 0, 20}});
  ASSERT_FALSE(made[0]);
  EXPECT_THAT(made[0].error().text, HasSubstr("no stand-in: 1000000 CTAs take at least "));
  ASSERT_FALSE(made[1]);
  EXPECT_THAT(made[1].error().text, HasSubstr("shared memory"));
  ASSERT_FALSE(made[2]);
  EXPECT_THAT(made[2].error().text, HasSubstr("registers"));
}

INSTANTIATE_TEST_SUITE_P(EveryDemand, StandIns, testing::Values(configs::LATENCY, configs::DRAM, configs::ISSUE),
                         [](const auto& demand) { return configs::OpaqueDemand_Name(demand.param); });

}  // namespace
}  // namespace warpfold::cli
