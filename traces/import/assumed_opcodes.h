#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/architecture.h"

namespace warpfold::sass {

// Opcode that no table has, with the pipe and latency that the user states: "FOO.BAR=alu,5". Modifiers may follow the
// opcode in the listing.
struct AssumedOpcode {
  std::string opcode;
  std::string pipe;
  uint32_t latency = 0;  // cycles until its result can be used

  bool covers(std::string_view mnemonic) const;
};
Expected<AssumedOpcode> parse_assumed_opcode(const std::string& text);

// Returns the cycles from issue until the result of an arithmetic instruction can be used.
uint32_t latency_of(const isa::Architecture& architecture, const isa::OpcodeInfo& info);

// Returns the architecture's arithmetic opcodes on the stated pipe with one result, nearest latency first.
std::vector<std::string> stand_ins(const isa::Architecture& architecture, const AssumedOpcode& assumed);

}  // namespace warpfold::sass
