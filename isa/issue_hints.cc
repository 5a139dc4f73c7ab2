#include "isa/issue_hints.h"

#include <algorithm>
#include <array>
#include <vector>

#include "isa/architecture.h"
#include "isa/operand.h"

namespace warpfold::isa {

namespace {

constexpr size_t kSlots = 3;
constexpr size_t kBanks = 2;
constexpr int kShortestYieldingStall = 2;
constexpr int kAlwaysYieldingStall = 3;
constexpr int kLongestYieldingStall = 7;
constexpr int kCyclesBetweenYields = 12;

// Source that the instruction at `reader` would find in the register-file cache if `setter` kept it.
struct Candidate {
  Operand* operand;
  size_t setter;
  size_t reader;
};

// Last source that was read through a slot and bank and whose register has not been overwritten.
struct Entry {
  Operand* operand = nullptr;
  size_t setter = 0;
};

using Entries = std::array<std::array<Entry, kBanks>, kSlots>;

bool cached_source(const Operand& operand) {
  return operand.kind == OperandKind::kRegister && !operand.destination && operand.index != kZeroRegister;
}

bool overlaps(const Operand& left, const Operand& right) {
  return left.index < right.index + right.width && right.index < left.index + left.width;
}

// A register tuple occupies both banks.
bool reads_bank(const Operand& operand, size_t bank) { return operand.width > 1 || operand.index % kBanks == bank; }

void read_sources(Instruction& instruction, size_t at, Entries& entries, std::vector<Candidate>& candidates) {
  for (Operand& operand : instruction.operands) {
    if (!cached_source(operand)) continue;
    for (size_t bank = 0; bank < kBanks; ++bank) {
      if (!reads_bank(operand, bank)) continue;
      Entry& entry = entries[operand.slot][bank];
      if (entry.operand != nullptr && entry.operand->index == operand.index)
        candidates.push_back({entry.operand, entry.setter, at});
      entry = {&operand, at};
    }
  }
}

void forget_written(const Instruction& instruction, Entries& entries) {
  for (const Operand& written : instruction.operands) {
    if (written.kind != OperandKind::kRegister || !written.destination || written.width == 0) continue;
    for (auto& slot : entries) {
      for (Entry& entry : slot) {
        if (entry.operand != nullptr && overlaps(*entry.operand, written)) entry.operand = nullptr;
      }
    }
  }
}

std::vector<Candidate> find_candidates(const Architecture& architecture, std::span<Instruction> code) {
  std::vector<Candidate> candidates;
  Entries entries{};
  for (size_t i = 0; i < code.size(); ++i) {
    for (Operand& operand : code[i].operands) set_reuse(operand, false);
    const OpcodeInfo& info = architecture.info(code[i]);
    if (info.behaviour == Behaviour::kBranch) entries = {};  // the next instruction may not follow in execution
    if (!info.memory()) read_sources(code[i], i, entries, candidates);
    forget_written(code[i], entries);
  }
  return candidates;
}

void assign_yields(const Architecture& architecture, std::span<Instruction> code, const std::vector<Candidate>& candidates) {
  std::vector<bool> held(code.size(), false);
  for (const Candidate& candidate : candidates) {
    if (architecture.info(code[candidate.setter]).pipe != Pipe::kTensor) continue;
    for (size_t i = candidate.setter; i < candidate.reader; ++i) held[i] = true;
  }
  int since_yield = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    ControlCode& control = code[i].control;
    since_yield += control.stall;
    const bool long_enough =
        control.stall >= kAlwaysYieldingStall || (control.stall >= kShortestYieldingStall && since_yield >= kCyclesBetweenYields);
    const bool control_instruction = architecture.info(code[i]).pipe == Pipe::kNone;
    control.yield = long_enough && control.stall <= kLongestYieldingStall && !held[i] && !control_instruction;
    if (control.yield || control.stall > kLongestYieldingStall) since_yield = 0;
  }
}

}  // namespace

void assign_issue_hints(const Architecture& architecture, std::span<Instruction> code) {
  const std::vector<Candidate> candidates = find_candidates(architecture, code);
  assign_yields(architecture, code, candidates);
  for (const Candidate& candidate : candidates) {
    const std::span<Instruction> between = code.subspan(candidate.setter, candidate.reader - candidate.setter);
    if (std::ranges::none_of(between, [](const Instruction& instruction) { return instruction.control.yield; })) {
      set_reuse(*candidate.operand, true);
    }
  }
}

}  // namespace warpfold::isa
