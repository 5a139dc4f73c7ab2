#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "traces/kernel.h"
#include "traces/text_places.h"

namespace warpfold::isa {
class Architecture;
struct OpcodeInfo;
}  // namespace warpfold::isa

namespace warpfold::traces {

// Fault of a kernel and the part of the kernel that has it. Internal to validate().
struct Fault {
  template <std::convertible_to<std::string> Text>
  Fault(Text&& text, const Place& where = {}) : message(std::forward<Text>(text)), place(where) {}

  std::string message;
  Place place;
};
using Problem = std::optional<Fault>;

// Checks the program of role number `index`.
Problem check_role(const isa::Architecture& architecture, const Kernel& kernel, size_t index);
// Checks that the warps of each warpgroup issue the same wgmma instructions in the same order, also if they have
// different roles. Requires that check_role() accepts all roles.
Problem check_warpgroups(const isa::Architecture& architecture, const Kernel& kernel);
// Checks the effect of an instruction: the data that it moves and its synchronisation.
Problem check_effect(const isa::OpcodeInfo& opcode, const isa::Instruction& instruction, const Kernel& kernel);

}  // namespace warpfold::traces
