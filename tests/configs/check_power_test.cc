// The valid fields of a power model, and the conditions under which the clock can follow from it.

#include <gtest/gtest.h>

#include <functional>

#include "scratch.h"

namespace warpfold::configs {
namespace {

std::string fault(const std::string& file, const std::function<void(Gpu&)>& change) {
  Gpu gpu = load_gpu(gpu_path(file)).value();
  change(gpu);
  const auto checked = check_gpu(gpu, "g");
  return checked ? "no error" : checked.error().text();
}

std::string fault(const std::function<void(Gpu&)>& change) { return fault("a100_sxm.textproto", change); }

OperatingPoint& point(Gpu& gpu, int index) { return *gpu.mutable_power()->mutable_point(index); }

TEST(CheckPower, TakesAFixedClockWithAModelOrWithout) {
  EXPECT_EQ(fault([](Gpu&) {}), "no error");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.clear_power(); }), "no error");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.set_clock(POWER); }), "no error");
}

TEST(CheckPower, WantsAModelOfThisGpuWhereTheClockFollowsFromIt) {
  EXPECT_EQ(fault([](Gpu& gpu) {
              gpu.set_clock(POWER);
              gpu.clear_power();
            }),
            "g: clock: POWER needs a power model, and the file of A100 SXM4 80GB has none");
  EXPECT_EQ(
      fault("h200_sxm.textproto", [](Gpu& gpu) { gpu.set_clock(POWER); }),
      "g: clock: POWER needs a power model of H200 SXM5 141GB, this one is of H100 SXM5 80GB (power.gpu): say so where it is to "
      "stand for it");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->clear_gpu(); }),
            "g: power.gpu is missing: the name of the GPU that the model is of");
}

TEST(CheckPower, WantsPowerThatGrowsWithTheClock) {
  EXPECT_EQ(fault([](Gpu& gpu) { point(gpu, 1).set_clock_mhz(300); }),
            "g: power.point[1].clock_mhz must be above that of the point before (300), not 300");
  EXPECT_EQ(fault([](Gpu& gpu) { point(gpu, 1).set_voltage(0.9); }),
            "g: power.point[1].voltage must not be below that of the point before (1), not 0.9");
  EXPECT_EQ(fault([](Gpu& gpu) { point(gpu, 1).set_static_w(60); }),
            "g: power.point[1].static_w must not be below that of the point before (61.2), not 60");
  EXPECT_EQ(fault([](Gpu& gpu) { point(gpu, 0).set_voltage(0); }), "g: power.point[0].voltage must be from 0.1 to 10, not 0");
  EXPECT_EQ(fault([](Gpu& gpu) { point(gpu, 2).clear_static_w(); }), "g: power.point[2].static_w is missing");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->clear_point(); }),
            "g: power.point is missing: voltage and static power at some clock");
}

TEST(CheckPower, WantsACapUnderWhichSomethingCanRun) {
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->set_cap_w(50); }),
            "g: power.cap_w (50) must be above the static power at the lowest clock (61.2): nothing could run");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->set_clock_limit_mhz(200); }),
            "g: power.clock_limit_mhz (200) must not be below the lowest clock of power.point (300)");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->mutable_energy()->set_dram_byte_pj(-1); }),
            "g: power.energy.dram_byte_pj must be from 0 to 1000000, not -1");
  EXPECT_EQ(fault([](Gpu& gpu) { gpu.mutable_power()->mutable_energy()->clear_alu_pj(); }), "g: power.energy.alu_pj is missing");
}

}  // namespace
}  // namespace warpfold::configs
