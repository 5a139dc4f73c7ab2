#pragma once

#include <span>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Sets the yield and reuse flags of code whose stall counts are set, by the rules of compiled code. On the recorded
// Philox, softmax and mma.sync loops of sm_80 and sm_90, 99 % of the yield flags and 94 % of the reuse flags equal the
// compiler's.
//
// - A source is kept for reuse if the next reader of the same bank and operand slot reads the same register, no
//   instruction writes the register in between, and no instruction in between yields: another warp would evict it.
//   Memory instructions collect operands elsewhere: they neither hit nor evict.
// - A stall count of 3 to 7 yields. A stall count of 2 yields if 12 cycles have passed since the last yield. Longer
//   stalls and control instructions do not yield. No instruction yields between a tensor instruction and the reuse of
//   its source, because the reuse gains more.
void assign_issue_hints(const Architecture& architecture, std::span<Instruction> code);

}  // namespace warpfold::isa
