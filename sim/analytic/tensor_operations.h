#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/architecture.h"
#include "sim/sm/program.h"

namespace warpfold::sim {

// Widths of the operands that the tensor cores multiply, in bits.
enum class OperandWidth : uint8_t { k16, k8, k4 };

// Of an opcode by its name; none of one that multiplies no matrices.
std::optional<OperandWidth> operand_width(std::string_view opcode);

// What one warp instruction has the tensor cores do: a multiply-add is two operations. Of a wgmma, which four warps issue together,
// a quarter. An instruction that multiplies no matrices does nothing.
struct TensorOperations {
  OperandWidth width = OperandWidth::k16;
  uint64_t count = 0;
};
TensorOperations tensor_operations(const isa::OpcodeInfo& opcode, const MicroOp& op);

}  // namespace warpfold::sim
