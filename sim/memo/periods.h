#pragma once

#include <cstdint>
#include <map>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Repetitions of a period that an SM has skipped.
struct Period {
  uint64_t instructions = 0;  // issued in one repetition
  uint64_t repeats = 0;
};

using Periods = std::map<Cycle, Period>;  // by length of the period

}  // namespace warpfold::sim
