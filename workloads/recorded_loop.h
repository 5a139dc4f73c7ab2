#pragma once

#include <string>
#include <vector>

#include "isa/architecture.h"

namespace warpfold::workloads {

// The main loop of compiled code, recorded in sass/ with the control codes that ptxas gave it. `name` is the file's name
// without its extension. One pass of the loop, its branch back included. Recordings are part of the program: a missing or
// malformed one throws.
std::vector<isa::Instruction> recorded_loop(const isa::Architecture& architecture, const std::string& name);

}  // namespace warpfold::workloads
