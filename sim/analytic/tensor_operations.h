#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "isa/architecture.h"
#include "sim/sm/program.h"

namespace warpfold::sim {

// Width in bits of the operands that the tensor cores multiply.
enum class OperandWidth : uint8_t { k16, k8, k4 };

// Returns the operand width of an opcode; empty if it is no matrix product.
std::optional<OperandWidth> operand_width(std::string_view opcode);

// Tensor core operations of one warp instruction. A multiply-add counts as two operations. A wgmma, which four warps
// issue together, counts a quarter per warp. An instruction other than a matrix product has none.
struct TensorOperations {
  OperandWidth width = OperandWidth::k16;
  uint64_t count = 0;
};
TensorOperations tensor_operations(const isa::OpcodeInfo& opcode, const MicroOp& op);

}  // namespace warpfold::sim
