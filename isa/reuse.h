#pragma once

#include <span>

#include "isa/architecture.h"
#include "isa/instruction.h"

namespace warpfold::isa {

// Sets the reuse flag of each source whose register the next reader of the same bank and operand slot wants again, and that
// nobody writes in between. Memory instructions collect their operands elsewhere: they neither hit nor evict.
void assign_reuse(const Architecture& architecture, std::span<Instruction> code);

}  // namespace warpfold::isa
