#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/behaviour.h"
#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// Text form of one instruction, which round-trips byte for byte:
//
//   [B0-----:R1:W-:Y:S04] @!P0 LDG.E.128 R4, [R2.64+0x10] ; {bytes=512 stream=0}
//    |       |  |  | |    guard mnemonic operands           effect, omitted if all values are defaults
//    |       |  |  | stall count
//    |       |  |  yield: Y, or - for no
//    |       |  write counter 0-5, or - for none
//    |       read counter 0-5, or - for none
//    wait mask: digit c if the instruction waits for counter c, else -
//
// The bracket may be omitted on input. The control code is then the default one, until the assigner sets it. Effect
// keys are the field names of isa::Effect; a boolean is written as the bare key.
//
// With names, an effect refers to a stream, ring or cursor by name, as in "{barrier=empty cursor=producer}". Without
// names it uses indices. If `rings` is empty, `barrier` is always a number, as for the named barriers of BAR.
struct EffectNames {
  std::vector<std::string> streams;
  std::vector<std::string> rings;
  std::vector<std::string> cursors;
};
// True if `barrier` of the opcode is a named barrier (BAR) and not a ring.
bool names_barriers_by_number(Behaviour behaviour);
std::string format_instruction(const Instruction& instruction, const EffectNames& names = {});
std::string format_control(const ControlCode& control);

// Parses one line. Diagnostics carry `file`, `line` and the column of the offending token. An index is accepted in
// place of a name.
Expected<Instruction> parse_instruction(const Architecture& architecture, std::string_view text, const std::string& file, int line,
                                        const EffectNames& names = {});

}  // namespace warpfold::isa
