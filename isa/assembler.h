#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/behaviour.h"
#include "isa/instruction.h"

namespace warpfold::isa {

class Architecture;

// The readable form of one instruction, which round-trips byte for byte:
//
//   [B0-----:R1:W-:Y:S04] @!P0 LDG.E.128 R4, [R2.64+0x10] ; {bytes=512 stream=0}
//    |       |  |  | |    guard mnemonic operands           effect, left out where all values are the defaults
//    |       |  |  | stall count
//    |       |  |  Y: yield, -: not
//    |       |  write counter 0-5 or -
//    |       read counter 0-5 or -
//    wait mask: digit c where counter c is waited for, - elsewhere
//
// The bracket may be left out on input: the control code is then the default one (the assigner sets it).
// Effect keys are the field names of isa::Effect; booleans are written as the bare key.
//
// With names, an effect refers to a stream, ring or cursor by name, "{barrier=empty cursor=producer}"; without, by index. Where
// `rings` is empty, `barrier` is the number of a named barrier (BAR) and stays one.
struct EffectNames {
  std::vector<std::string> streams;
  std::vector<std::string> rings;
  std::vector<std::string> cursors;
};
// Whether an opcode's `barrier` is a named barrier (BAR), and not a ring.
bool names_barriers_by_number(Behaviour behaviour);
std::string format_instruction(const Instruction& instruction, const EffectNames& names = {});
std::string format_control(const ControlCode& control);

// Parses one line. `file` and `line` go into the diagnostic; its column points at the offending token. Indices are read where names
// are expected as well.
Expected<Instruction> parse_instruction(const Architecture& architecture, std::string_view text, const std::string& file, int line,
                                        const EffectNames& names = {});

}  // namespace warpfold::isa
