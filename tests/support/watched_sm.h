#pragma once

#include <vector>

#include "sim/sm/sm.h"
#include "tests/support/random_programs.h"

namespace warpfold::test {

// The first of a scenario's SMs by itself.
class WatchedSm {
 public:
  explicit WatchedSm(const Scenario& scenario);

  // With all launches released in cycle 0. Not longer than this.
  sim::Sm start() const;

 private:
  sim::Spec spec_;
  std::vector<sim::KernelImage> images_;
  std::vector<sim::SmLaunch> launches_;
};

// Runs the CTAs that the first of the scenario's SMs receives, all launches at once, and shows it to `observer` at its loop ends.
void run_watched(const Scenario& scenario, sim::SmObserver& observer);

}  // namespace warpfold::test
