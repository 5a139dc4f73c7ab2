// Warps that are missing because another launch holds their room. State: SmState::absences, present, absent_since.
#pragma once

#include <vector>

#include "sim/engine/time.h"
#include "sim/sm/sm_state.h"

namespace warpfold::sim {

class Sm;

// Charges the missing warps, and the time that launches were on the SM together, up to `now`.
void settle_absences(Sm& sm, Cycle now);
// Finds the missing warps anew, after CTAs have come or gone.
void assess_absences(Sm& sm, Cycle now);
// Returns the warps that a launch misses in every cycle, by the launch to which they are charged.
std::vector<Absence> absences(const Sm& sm, int launch, Cycle now);

}  // namespace warpfold::sim
