#include "isa/reuse.h"

#include <array>

#include "isa/operand.h"

namespace warpfold::isa {

namespace {

constexpr size_t kSlots = 3;
constexpr size_t kBanks = 2;

// The last source that was read through a slot and bank; its register is still the same.
struct Entry {
  Operand* operand = nullptr;
};

bool cached_source(const Operand& operand) {
  return operand.kind == OperandKind::kRegister && !operand.destination && operand.index != kZeroRegister;
}

bool overlaps(const Operand& left, const Operand& right) {
  return left.index < right.index + right.width && right.index < left.index + left.width;
}

}  // namespace

void assign_reuse(const Architecture& architecture, std::span<Instruction> code) {
  std::array<std::array<Entry, kBanks>, kSlots> entries{};
  for (Instruction& instruction : code) {
    const OpcodeInfo& info = architecture.info(instruction);
    if (info.behaviour == Behaviour::kBranch) entries = {};  // the code behind may be other code
    if (!info.memory()) {
      for (Operand& operand : instruction.operands) {
        if (!cached_source(operand)) continue;
        set_reuse(operand, false);
        for (size_t bank = 0; bank < kBanks; ++bank) {
          const bool reads_bank = operand.width > 1 || operand.index % kBanks == bank;
          if (!reads_bank) continue;
          Entry& entry = entries[operand.slot][bank];
          if (entry.operand != nullptr && entry.operand->index == operand.index) set_reuse(*entry.operand, true);
          entry.operand = &operand;
        }
      }
    }
    for (const Operand& written : instruction.operands) {
      if (written.kind != OperandKind::kRegister || !written.destination || written.width == 0) continue;
      for (auto& slot : entries) {
        for (Entry& entry : slot) {
          if (entry.operand != nullptr && overlaps(*entry.operand, written)) entry.operand = nullptr;
        }
      }
    }
  }
}

}  // namespace warpfold::isa
