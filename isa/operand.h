#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/diagnostic.h"
#include "isa/instruction.h"

namespace warpfold::isa {

struct OpcodeInfo;

// Kind and register numbers of one operand as written; fails where the text is no operand or names a register that no
// warp has. Role, width and slot depend on the opcode: see assign_operand_roles.
Expected<Operand> parse_operand(std::string_view text);

// Which leading operands are written, how many registers each covers and which register-file cache slot each source uses.
// Fails where a register tuple would run past the last register.
Expected<void> assign_operand_roles(const OpcodeInfo& info, Instruction& instruction);

// Sets or clears the reuse flag, in the text too: "-R4.H0_H0" becomes "-R4.reuse.H0_H0".
void set_reuse(Operand& operand, bool reuse);

// Registers of one file that an operand names: `first` .. `first + count - 1`.
struct RegisterRange {
  OperandKind file = OperandKind::kRegister;  // kRegister, kUniformRegister, kPredicate or kUniformPredicate
  uint8_t first = 0;
  uint8_t count = 1;
};

// Every register that the operand reads or writes, zero registers and true predicates left out. Memory operands name up to
// three: "desc[UR4][R2.64+UR6]" reads UR4-UR5, R2-R3 and UR6.
std::vector<RegisterRange> registers_of(const Operand& operand);

}  // namespace warpfold::isa
