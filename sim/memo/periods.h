#pragma once

#include <cstdint>
#include <map>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Repetitions of one period that an SM has passed without replaying them.
struct Period {
  uint64_t instructions = 0;  // of one repetition
  uint64_t repeats = 0;
};

using Periods = std::map<Cycle, Period>;  // by length

}  // namespace warpfold::sim
