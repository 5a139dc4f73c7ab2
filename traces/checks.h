#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "isa/architecture.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// What is wrong with a kernel, or nothing. Internal to validate().
using Problem = std::optional<std::string>;

// The program of one role, whose first warp is warp `first_warp` of the CTA.
Problem check_role(const isa::Architecture& architecture, const Kernel& kernel, const Role& role, uint32_t first_warp);
// What an instruction moves and synchronises with.
Problem check_effect(const isa::OpcodeInfo& opcode, const isa::Effect& effect, const Kernel& kernel);

}  // namespace warpfold::traces
