#pragma once

#include "tests/support/random_programs.h"

namespace warpfold::fuzz {

// Simulates a scenario in every way that there is and holds the ways against each other: folded exactly it is a full replay bit for
// bit; folded within a bound (`--fold shadow`) no kernel is off by more than three times that; all SMs (`--sms all`) run as many
// CTAs and instructions and move as many bytes as the classes do, in the same cycles, to 1 in 100,000, where there is one SM. A
// scenario that is refused, or that deadlocks, is so in every way.
void require_same_replays(const test::Scenario& scenario);

}  // namespace warpfold::fuzz
