#pragma once

#include "tests/support/random_programs.h"

namespace warpfold::fuzz {

// Simulates a scenario in every available way and compares the results. Folded exactly, it must equal a full replay bit for bit.
// Folded within a bound (`--fold shadow`), no kernel is off by more than three times the bound. All SMs (`--sms all`) must run as
// many CTAs and instructions and move as many bytes as the classes do. With one SM, they must take the same cycles, to 1 in
// 100,000. A scenario that is refused, or that deadlocks, must do so in every way.
void require_same_replays(const test::Scenario& scenario);

}  // namespace warpfold::fuzz
