#pragma once

#include <optional>
#include <vector>

#include "tools/warpfold/figures/power.h"
#include "tools/warpfold/run/planned.h"

namespace warpfold::cli {

// The clock of a plan whose GPU has gpu.clock at POWER. Energies follow from the programs alone; how long the run takes is first
// taken from limiters, then from a simulation, so that mostly one is enough.
class PlanClock {
 public:
  // None: the clock is fixed.
  static Expected<std::optional<PlanClock>> of(const Planned& planned);

  // To be simulated at.
  double mhz() const { return clock_.mhz; }
  // Takes in a simulation at mhz(). False: the clock that it leaves is another one, at which cycles may differ by more than 3 %.
  bool settles(const sim::Outcome& outcome);
  // Once it has settled, or as near as it has come.
  void fill(configs::Result& result) const;

 private:
  std::vector<sim::Energy> energies_{};  // of the plan's kernels
  configs::Power power_{};
  sim::PowerLoad load_{};
  SustainedClock clock_{};
};

}  // namespace warpfold::cli
