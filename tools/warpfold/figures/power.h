#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "sim/plan/outcome.h"
#include "sim/power/power_model.h"

namespace warpfold::cli {

// The clock that a run sustains.
struct SustainedClock {
  double mhz = 0;
  double simulated_mhz = 0;  // clock of the simulation that gave the cycles
  double error = 0;          // relative, of the cycles
  uint32_t simulations = 0;
};

// Returns the load on the board of a run at `mhz` whose kernels use `energies`.
sim::PowerLoad load_of(const std::vector<sim::Energy>& energies, const sim::Outcome& outcome, double mhz);

// Fills in watts, joules by kernel and resource, phases, and the cost of the power cap. `result` has the run's kernels, with times
// at the sustained clock; `energies` is by kernel of `result`.
void fill_power(const sim::PowerModel& model, const std::vector<sim::Energy>& energies, const sim::PowerLoad& load,
                const SustainedClock& clock, configs::Result& result);

}  // namespace warpfold::cli
