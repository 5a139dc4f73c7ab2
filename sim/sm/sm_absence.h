// Warps that are not there because another launch holds their room. State: SmState::absences, present,
// absent_since.
#pragma once

#include <vector>

#include "sim/engine/time.h"
#include "sim/sm/sm_state.h"

namespace warpfold::sim {

class Sm;

// Charges what has been missing, and which launches have been beside each other, until `now`.
void settle_absences(Sm& sm, Cycle now);
// CTAs have come or gone: what is missing from now on.
void assess_absences(Sm& sm, Cycle now);
// What a launch misses a cycle, and the launches it is charged to.
std::vector<Absence> absences(const Sm& sm, int launch, Cycle now);

}  // namespace warpfold::sim
