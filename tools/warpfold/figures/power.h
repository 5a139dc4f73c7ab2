#pragma once

#include <vector>

#include "configs/result.pb.h"
#include "sim/plan/outcome.h"
#include "sim/power/power_model.h"

namespace warpfold::cli {

// The clock that a run was found to sustain.
struct SustainedClock {
  double mhz = 0;
  double simulated_mhz = 0;  // of the simulation that the cycles are of
  double error = 0;          // relative, of the cycles
  uint32_t simulations = 0;
};

// What a run of kernels that take `energies` asks of the board, as it was simulated at `mhz`.
sim::PowerLoad load_of(const std::vector<sim::Energy>& energies, const sim::Outcome& outcome, double mhz);

// Watts, joules by kernel and resource, phases and what the cap costs. `result` has the run's kernels, timed at the clock;
// `energies` are theirs.
void fill_power(const sim::PowerModel& model, const std::vector<sim::Energy>& energies, const sim::PowerLoad& load,
                const SustainedClock& clock, configs::Result& result);

}  // namespace warpfold::cli
