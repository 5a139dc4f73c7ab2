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

// What is wrong with a kernel, and with which part of it. Internal to validate().
struct Fault {
  template <std::convertible_to<std::string> Text>
  Fault(Text&& text, const Place& where = {}) : message(std::forward<Text>(text)), place(where) {}

  std::string message;
  Place place;
};
using Problem = std::optional<Fault>;

// The program of role number `index`.
Problem check_role(const isa::Architecture& architecture, const Kernel& kernel, size_t index);
// That the warps of a warpgroup issue the same wgmma instructions in the same order, whichever roles they have. The roles' programs
// have been checked.
Problem check_warpgroups(const isa::Architecture& architecture, const Kernel& kernel);
// What an instruction moves and synchronises with.
Problem check_effect(const isa::OpcodeInfo& opcode, const isa::Instruction& instruction, const Kernel& kernel);

}  // namespace warpfold::traces
