#pragma once

#include <span>
#include <vector>

#include "isa/architecture.h"
#include "isa/instruction.h"

namespace warpfold::workloads {

// Puts straight-line code into the order in which a compiler's list scheduler would issue it: at each cycle the first instruction
// in the given order whose results are there and whose port is free. Memory instructions keep their order among each other, as
// cp.async and ldmatrix do in compiled code. Registers are left alone. No control instructions: the caller ends a region there.
std::vector<isa::Instruction> list_schedule(const isa::Architecture& architecture, std::span<const isa::Instruction> code);

}  // namespace warpfold::workloads
