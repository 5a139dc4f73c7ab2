#pragma once

#include <span>

#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Sets yield and reuse flags of code whose stall counts are set, by the rules that compiled code follows: on the recorded
// Philox, softmax and mma.sync loops of sm_80 and sm_90, 99 % of the yields and 94 % of the reuse flags come out alike.
//
// - A source is kept for reuse where the next reader of the same bank and operand slot wants the same register, nobody
//   writes it in between and no instruction in between yields: another warp would evict it. Memory instructions collect
//   their operands elsewhere: they neither hit nor evict.
// - A stall count of 3 to 7 yields; one of 2 yields once 12 cycles have passed since the last yield; longer ones and control
//   instructions do not. Between a tensor instruction and its reuse nobody yields: there the operand is worth more.
void assign_issue_hints(const Architecture& architecture, std::span<Instruction> code);

}  // namespace warpfold::isa
