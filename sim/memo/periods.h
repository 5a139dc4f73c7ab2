#pragma once

#include <cstdint>
#include <map>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Repetitions of one period that an SM has passed without replaying them.
struct Period {
  uint64_t instructions = 0;  // of one repetition
  uint64_t repeats = 0;       // modulo 2^64 in differences
};

using Periods = std::map<Cycle, Period>;  // by length

// Adds `own` less `leaders` to `difference`.
void add_difference(Periods& difference, const Periods& own, const Periods& leaders);
// `periods` with `difference` added; lengths that never repeat are left out.
Periods sum(Periods periods, const Periods& difference);

}  // namespace warpfold::sim
