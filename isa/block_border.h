#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Effects of a block's control codes on the next block.

// Returns a mask of the dependence counters that may be above zero when the code ends.
uint8_t held_counters(const std::vector<Instruction>& code);

// Returns the cycles by which the last instruction of `before` must be delayed for fixed-latency results that `after`
// uses.
int missing_cycles(const Architecture& architecture, const std::vector<Instruction>& before, const std::vector<Instruction>& after);

// Removes the dependence counter of LDGDEPBAR, and all waits for it. Hardware counts cp.async groups in that counter.
// The machine counts the groups by effects (commit, and count at DEPBAR.LE.LDGSTS) and would never release the counter.
void remove_copy_counter(const Architecture& architecture, std::vector<Instruction>& code);

}  // namespace warpfold::isa
