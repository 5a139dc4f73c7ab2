// Watts by hand, and the clock that a cap leaves.

#include "sim/power/power_model.h"

#include <gtest/gtest.h>

namespace warpfold::sim {
namespace {

// 50 W at 500 MHz and 70 W at 1500, where the voltage is twice as high.
configs::Power two_points(double cap_w) {
  configs::Power power;
  power.set_cap_w(cap_w);
  power.set_clock_limit_mhz(1500);
  const auto add = [&power](double mhz, double voltage, double watts) {
    configs::OperatingPoint& point = *power.add_point();
    point.set_clock_mhz(mhz);
    point.set_voltage(voltage);
    point.set_static_w(watts);
  };
  add(500, 1, 50);
  add(1500, 2, 70);
  return power;
}

// One millijoule in a million cycles at the core's voltage, and as much of DRAM.
PowerLoad load(double core_mj, double dram_mj) {
  PowerLoad made{.cycles = 1e6, .clock_mhz = 1000};
  made.energy.joules[static_cast<size_t>(EnergyUse::kTensor)] = core_mj / 1e3;
  made.energy.joules[static_cast<size_t>(EnergyUse::kDram)] = dram_mj / 1e3;
  return made;
}

TEST(PowerModel, InterpolatesBetweenPointsAndGoesOnBehindThem) {
  const configs::Power power = two_points(1000);
  const PowerModel model(power);
  EXPECT_DOUBLE_EQ(model.voltage(500), 1);
  EXPECT_DOUBLE_EQ(model.voltage(1000), 1.5);
  EXPECT_DOUBLE_EQ(model.voltage(2000), 2.5);
  EXPECT_DOUBLE_EQ(model.voltage(100), 1);  // no lower voltage is known
  EXPECT_DOUBLE_EQ(model.static_watts(1000), 60);
}

// 10 mJ x 1.5^2 and 5 mJ in a millisecond at 1000 MHz.
TEST(PowerModel, TakesTheSquareOfTheVoltageForAllButDram) {
  const configs::Power power = two_points(1000);
  EXPECT_DOUBLE_EQ(PowerModel(power).watts(load(10, 5), 1000), 60 + 22.5 + 5);
}

TEST(PowerModel, SustainsTheHighestClockUnderTheCap) {
  for (const double cap : {80.0, 100.0, 140.0}) {
    const configs::Power power = two_points(cap);
    const PowerModel model(power);
    const double mhz = model.sustained_clock(load(10, 5));
    EXPECT_LE(model.watts(load(10, 5), mhz), cap);
    EXPECT_TRUE(mhz == 1500 || model.watts(load(10, 5), mhz + 1) > cap) << cap;
  }
  const configs::Power roomy = two_points(140);
  EXPECT_EQ(PowerModel(roomy).sustained_clock(load(10, 5)), 1500);  // 70 + 60 + 7.5
}

TEST(PowerModel, StaysAtTheLowestClockWhereEvenThatIsTooMuch) {
  const configs::Power power = two_points(60);
  EXPECT_EQ(PowerModel(power).sustained_clock(load(1000, 0)), 500);
}

// A higher clock is no use to a run that waits for DRAM, and costs it nothing but voltage.
TEST(PowerModel, KnowsThatDramKeepsItsBytesASecond) {
  PowerLoad streaming = load(0, 5);
  streaming.dram_cycles = streaming.cycles;
  EXPECT_DOUBLE_EQ(streaming.us_at(1000), 1000);
  EXPECT_DOUBLE_EQ(streaming.us_at(1500), 1000);
  EXPECT_DOUBLE_EQ(streaming.us_at(500), 1000);
  streaming.dram_cycles = streaming.cycles / 2;  // the run waits for something else
  EXPECT_DOUBLE_EQ(streaming.us_at(500), 2000);
  EXPECT_DOUBLE_EQ(streaming.us_at(1500), 1e6 / 1500);
  streaming.dram_cycles = streaming.cycles;
  const configs::Power power = two_points(1000);
  EXPECT_DOUBLE_EQ(PowerModel(power).watts(streaming, 1500), 70 + 5);
}

TEST(PowerModel, FallsWithTheCap) {
  double before = 0;
  for (double cap = 60; cap < 150; cap += 5) {
    const configs::Power power = two_points(cap);
    const double mhz = PowerModel(power).sustained_clock(load(10, 5));
    EXPECT_GE(mhz, before);
    before = mhz;
  }
}

}  // namespace
}  // namespace warpfold::sim
