#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/architecture.h"

namespace warpfold::sass {

// An opcode that no table has, timed as the user states: "FOO.BAR=alu,5". Modifiers may follow the opcode in the listing.
struct AssumedOpcode {
  std::string opcode;
  std::string pipe;
  uint32_t latency = 0;  // cycles until its result may be used

  bool covers(std::string_view mnemonic) const;
};
Expected<AssumedOpcode> parse_assumed_opcode(const std::string& text);

// Cycles from issue until the result of an instruction that computes may be used.
uint32_t latency_of(const isa::Architecture& architecture, const isa::OpcodeInfo& info);

// Opcodes of the architecture that compute on the stated pipe, with one result, those of the nearest latency first.
std::vector<std::string> stand_ins(const isa::Architecture& architecture, const AssumedOpcode& assumed);

}  // namespace warpfold::sass
