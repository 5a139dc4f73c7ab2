#pragma once

#include <vector>

#include "sim/sm/sm.h"
#include "tests/support/random_programs.h"

namespace warpfold::test {

// The first SM of a scenario, run by itself.
class WatchedSm {
 public:
  explicit WatchedSm(const Scenario& scenario);

  // Returns the SM with all launches released in cycle 0. It must not outlive this object.
  sim::Sm start() const;

 private:
  sim::Spec spec_;
  std::vector<sim::KernelImage> images_;
  std::vector<sim::SmLaunch> launches_;
};

// Runs the first SM of the scenario with all launches released at once. `observer` looks at it at loop ends.
void run_watched(const Scenario& scenario, sim::SmObserver& observer);

}  // namespace warpfold::test
