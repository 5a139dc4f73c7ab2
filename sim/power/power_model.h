// Board power of a GPU as a function of the clock, and the clock that a power cap sustains.
#pragma once

#include "configs/gpu.pb.h"
#include "sim/power/events.h"

namespace warpfold::sim {

// A workload that repeats: its energy, and its cycles at the simulated clock. With the clock only the cycles for DRAM
// change, because DRAM keeps its bytes per second.
struct PowerLoad {
  Energy energy{};
  double cycles = 0;
  double dram_cycles = 0;  // cycles that DRAM needs for the workload's bytes at the simulated clock
  double clock_mhz = 0;    // simulated clock

  double cycles_at(double mhz) const;
  double us_at(double mhz) const { return cycles_at(mhz) / mhz; }
};

class PowerModel {
 public:
  // `power`: a power model that configs::check_gpu accepts. It must outlive this object.
  explicit PowerModel(const configs::Power& power) : power_(power) {}

  // Returns the core voltage at a clock, relative to the lowest voltage of the model.
  double voltage(double mhz) const;
  double static_watts(double mhz) const;
  // Scales the energy of events to the voltage at a clock. DRAM's energy does not change.
  Energy at(const Energy& energy, double mhz) const;
  // Returns the mean power of the board in watts.
  double watts(const PowerLoad& load, double mhz) const;
  // Returns the highest clock in whole MHz up to the limit at which the board stays within the cap. If none does,
  // returns the lowest clock of the model.
  double sustained_clock(const PowerLoad& load) const;

  const configs::Power& description() const { return power_; }

 private:
  const configs::Power& power_;
};

}  // namespace warpfold::sim
