#pragma once

#include "sim/sm/sm.h"
#include "tests/support/random_programs.h"

namespace warpfold::test {

// Runs what the first of the scenario's SMs receives, all launches at once, and shows it to `observer` at its loop ends.
void run_watched(const Scenario& scenario, sim::SmObserver& observer);

}  // namespace warpfold::test
