#pragma once

#include <optional>
#include <vector>

#include "tools/warpfold/figures/power.h"
#include "tools/warpfold/run/planned.h"

namespace warpfold::cli {

// The clock of a plan whose GPU has gpu.clock at POWER. Energies follow from the programs alone. The run's time is first estimated
// from limiters, then taken from a simulation; mostly one simulation suffices.
class PlanClock {
 public:
  // Returns none if the clock is fixed.
  static Expected<std::optional<PlanClock>> of(const Planned& planned);

  // Returns the clock to simulate at.
  double mhz() const { return clock_.mhz; }
  // Takes the result of a simulation at mhz(). Returns false if the clock that follows from it is so different that cycles may
  // differ by more than 3 %.
  bool settles(const sim::Outcome& outcome);
  // Fills in the power figures, at the settled clock or at the last clock if none settled.
  void fill(configs::Result& result) const;

 private:
  std::vector<sim::Energy> energies_{};  // of the plan's kernels
  configs::Power power_{};
  sim::PowerLoad load_{};
  SustainedClock clock_{};
};

}  // namespace warpfold::cli
