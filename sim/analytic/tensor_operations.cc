#include "sim/analytic/tensor_operations.h"

#include <array>
#include <string_view>

namespace warpfold::sim {
namespace {

struct Family {
  std::string_view prefix;
  OperandWidth width;
};

constexpr std::array kFamilies{
    Family{"HMMA", OperandWidth::k16}, Family{"HGMMA", OperandWidth::k16},  Family{"UTCHMMA", OperandWidth::k16},
    Family{"IMMA", OperandWidth::k8},  Family{"QMMA", OperandWidth::k8},    Family{"IGMMA", OperandWidth::k8},
    Family{"QGMMA", OperandWidth::k8}, Family{"UTCQMMA", OperandWidth::k8}, Family{"UTCOMMA", OperandWidth::k4},
};

const Family* family_of(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (name.starts_with(family.prefix)) return &family;
  }
  return nullptr;
}

constexpr uint64_t bits(OperandWidth width) { return width == OperandWidth::k16 ? 16 : width == OperandWidth::k8 ? 8 : 4; }

// Returns the elements along k in the 32 bytes that wgmma and tcgen05.mma take.
constexpr uint64_t elements_of_k(OperandWidth width) { return 256 / bits(width); }

// mma.sync is m16n8k8, k16 or k32 by the digits of the name; without digits, the largest k of the type. Volta computes
// four products of m8n8k4 in four steps, or in two steps with FP16 sums.
uint64_t mma_sync_operations(std::string_view name, OperandWidth width) {
  if (name.contains(".884")) return 4 * 2 * 8 * 8 * 4 / (name.contains(".F16") ? 2 : 4);
  const uint64_t k = name.contains(".16832")   ? 32
                     : name.contains(".16816") ? 16
                     : name.contains(".1688")  ? 8
                                               : elements_of_k(width);
  return 2 * 16 * 8 * k;
}

}  // namespace

std::optional<OperandWidth> operand_width(std::string_view opcode) {
  const Family* family = family_of(opcode);
  return family == nullptr ? std::nullopt : std::optional(family->width);
}

TensorOperations tensor_operations(const isa::OpcodeInfo& opcode, const MicroOp& op) {
  const Family* family = family_of(opcode.name);
  if (family == nullptr) return {};
  const uint64_t columns = op.columns;
  switch (op.pipe) {
    case isa::Pipe::kTensor:
      return {family->width, mma_sync_operations(opcode.name, family->width)};
    case isa::Pipe::kWgmma:
      return {family->width, 2 * 64 * columns * elements_of_k(family->width) / 4};
    case isa::Pipe::kTcgen05:
      return {family->width, 2 * (op.half_rows ? 64 : 128) * columns * elements_of_k(family->width)};
    default:
      return {};
  }
}

}  // namespace warpfold::sim
