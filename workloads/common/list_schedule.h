#pragma once

#include <span>
#include <vector>

#include "isa/architecture.h"
#include "isa/instruction.h"

namespace warpfold::workloads {

// Reorders straight-line code as a compiler's list scheduler would issue it: each cycle issues the first instruction, in the given
// order, whose operands are ready and whose port is free. Memory instructions keep their relative order, as cp.async and ldmatrix
// do in compiled code. Registers are not renamed. The code must not contain control instructions: callers end a region at each.
std::vector<isa::Instruction> list_schedule(const isa::Architecture& architecture, std::span<const isa::Instruction> code);

}  // namespace warpfold::workloads
