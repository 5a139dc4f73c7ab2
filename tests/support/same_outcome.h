#pragma once

#include <string>

#include "sim/gpu/simulate.h"

namespace warpfold::test {

// Names the first field in which two outcomes differ, with both values; empty if there is none. Fields that say how the
// outcomes were simulated are not compared (sim/plan/outcome_difference.h).
std::string difference(const sim::Outcome& one, const sim::Outcome& other);

}  // namespace warpfold::test
