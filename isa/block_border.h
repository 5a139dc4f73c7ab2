#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// What control codes of one block of code leave for the block behind it.

// Counters that may still be above zero when the code ends.
uint8_t held_counters(const std::vector<Instruction>& code);

// Cycles by which the last instruction of `before` must be held back for fixed-latency results that `after` uses.
int missing_cycles(const Architecture& architecture, const std::vector<Instruction>& before, const std::vector<Instruction>& after);

// Removes the dependence counter of LDGDEPBAR and the waits for it. Hardware counts cp.async groups in that counter; the machine
// counts them by effect (commit, and count at DEPBAR.LE.LDGSTS) and would never release it.
void uncount_copies(const Architecture& architecture, std::vector<Instruction>& code);

}  // namespace warpfold::isa
