#pragma once

#include <span>
#include <string>
#include <vector>

#include "configs/embedded_file.h"
#include "isa/architecture.h"
#include "isa/instruction.h"

namespace warpfold::workloads {

// The main loop of compiled code: one pass, with its branch back and the control codes that ptxas gave it. `recordings` are the
// files of a kernel family's sass/ folder; `name` is a file name without its extension. Recordings are part of the program: a
// missing or malformed recording throws.
std::vector<isa::Instruction> recorded_loop(const isa::Architecture& architecture, std::span<const EmbeddedFile> recordings,
                                            const std::string& name);

}  // namespace warpfold::workloads
