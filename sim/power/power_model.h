// Board power of a GPU at a clock, and the clock that a cap leaves.
#pragma once

#include "configs/gpu.pb.h"
#include "sim/power/events.h"

namespace warpfold::sim {

// What runs over and over: its energy, and its cycles at the clock that it was simulated at. The clock changes them by DRAM alone,
// whose bytes a second stay.
struct PowerLoad {
  Energy energy{};
  double cycles = 0;
  double dram_cycles = 0;  // of them, so many as DRAM needs for its bytes at that clock
  double clock_mhz = 0;    // that clock

  double cycles_at(double mhz) const;
  double us_at(double mhz) const { return cycles_at(mhz) / mhz; }
};

class PowerModel {
 public:
  // A power model that configs::check_gpu accepts.
  explicit PowerModel(const configs::Power& power) : power_(power) {}

  // Over the lowest voltage.
  double voltage(double mhz) const;
  double static_watts(double mhz) const;
  // Energy of events at the voltage of a clock.
  Energy at(const Energy& energy, double mhz) const;
  // Mean power of the board.
  double watts(const PowerLoad& load, double mhz) const;
  // The highest clock, in whole MHz, up to the limit, at which the board stays below the cap; the lowest of the model where none
  // does.
  double sustained_clock(const PowerLoad& load) const;

  const configs::Power& description() const { return power_; }

 private:
  const configs::Power& power_;
};

}  // namespace warpfold::sim
