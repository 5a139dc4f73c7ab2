#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/instruction.h"

namespace warpfold::isa {

struct OpcodeInfo;

// Parses kind and register numbers of one operand. Fails if the text is no operand, or names a register that no warp
// has. Role, width and slot depend on the opcode (assign_operand_roles).
Expected<Operand> parse_operand(std::string_view text);

// Sets the destination flags of the leading operands, the registers that each operand covers, and the register-file
// cache slot of each source. Fails if a register tuple runs past the last register.
Expected<void> assign_operand_roles(const OpcodeInfo& info, Instruction& instruction);

// Sets or clears the reuse flag, also in the text: "-R4.H0_H0" becomes "-R4.reuse.H0_H0".
void set_reuse(Operand& operand, bool reuse);

// Registers `first` to `first + count - 1` of one file.
struct RegisterRange {
  OperandKind file = OperandKind::kRegister;  // kRegister, kUniformRegister, kPredicate or kUniformPredicate
  uint8_t first = 0;
  uint8_t count = 1;
};

// Returns every register that the operand reads or writes, except zero registers and true predicates. A memory operand
// names up to three: "desc[UR4][R2.64+UR6]" reads UR4-UR5, R2-R3 and UR6.
std::vector<RegisterRange> registers_of(const Operand& operand);

}  // namespace warpfold::isa
