#include "traces/stats.h"

#include <algorithm>
#include <numeric>

#include "isa/architecture.h"

namespace warpfold::traces {

namespace {

// True if an instruction of the body arrives at a barrier of the grid.
bool arrives(const std::vector<Node>& body) {
  const auto arrival = [](const isa::Instruction& each) { return each.effect.barrier >= 0 && isa::adds_in_l2(each.mnemonic); };
  return std::ranges::any_of(body, [&](const Node& node) {
    const auto* block = std::get_if<Block>(&node);
    return block != nullptr ? std::ranges::any_of(block->code, arrival) : arrives(std::get<Loop>(node).body);
  });
}

class RoleCounter {
 public:
  RoleCounter(const isa::Architecture& architecture, const Kernel& kernel, const Role& role)
      : architecture_(architecture), kernel_(kernel), by_opcode_(architecture.opcodes().size()) {
    counts_.name = role.name;
    counts_.warps = role.warps;
    std::vector<uint64_t> warps = ctas_by_class(kernel);
    for (uint64_t& count : warps) count *= role.warps;
    count_body(role.body, warps, 0);
    sort_opcodes();
  }

  RoleStatistics take() { return std::move(counts_); }

 private:
  // `times[c]`: number of times that all warps in CTAs of class c together run the body.
  void count_body(const std::vector<Node>& body, const std::vector<uint64_t>& times, int depth) {
    counts_.loop_depth = std::max(counts_.loop_depth, depth);
    const uint64_t issued = std::accumulate(times.begin(), times.end(), uint64_t{0});
    for (const Node& node : body) {
      if (const auto* block = std::get_if<Block>(&node)) {
        for (const isa::Instruction& instruction : block->code) count_instruction(instruction, issued);
      } else {
        const Loop& loop = std::get<Loop>(node);
        std::vector<uint64_t> inside = times;
        for (size_t c = 0; c < inside.size(); ++c) inside[c] *= trips(loop.trips, kernel_.cta_classes[c]);
        count_body(loop.body, inside, depth + 1);
      }
    }
  }

  void count_instruction(const isa::Instruction& instruction, uint64_t issued) {
    const isa::OpcodeInfo& opcode = architecture_.info(instruction);
    for (InstructionCount* count :
         {&counts_.instructions, &counts_.pipes[static_cast<size_t>(opcode.pipe)], &by_opcode_[instruction.opcode]}) {
      ++count->in_text;
      count->issued += issued;
    }
    for (const isa::Operand& operand : instruction.operands) {
      // A memory operand names its address registers, which are read even if the memory is written.
      const bool address = operand.kind == isa::OperandKind::kMemory;
      if (!address && operand.kind != isa::OperandKind::kRegister) continue;
      (operand.destination && !address ? counts_.register_writes : counts_.register_reads) += issued * operand.width;
    }
    const bool written = opcode.behaviour == isa::Behaviour::kStoreGlobal || opcode.behaviour == isa::Behaviour::kBulkStore;
    (written ? counts_.bytes_written : counts_.bytes_read) +=
        bytes_past_l1(instruction.effect, issued) / instruction.effect.multicast;
  }

  uint64_t bytes_past_l1(const isa::Effect& effect, uint64_t issued) const {
    if (effect.stream < 0) return issued * effect.bytes;
    const MemoryStream& stream = kernel_.streams[static_cast<size_t>(effect.stream)];
    const auto hits = static_cast<uint64_t>(static_cast<double>(issued) * static_cast<double>(stream.l1_numerator) /
                                            static_cast<double>(stream.l1_denominator));
    return (issued - hits) * moved_bytes(stream, effect.bytes);
  }

  void sort_opcodes() {
    for (size_t opcode = 0; opcode < by_opcode_.size(); ++opcode) {
      if (by_opcode_[opcode].in_text > 0) counts_.opcodes.push_back({architecture_.opcodes()[opcode].name, by_opcode_[opcode]});
    }
    std::ranges::stable_sort(
        counts_.opcodes, [](const OpcodeCount& a, const OpcodeCount& b) { return a.instructions.issued > b.instructions.issued; });
  }

  const isa::Architecture& architecture_;
  const Kernel& kernel_;
  std::vector<InstructionCount> by_opcode_;
  RoleStatistics counts_;
};

}  // namespace

KernelStatistics statistics(const Kernel& kernel) {
  const isa::Architecture& architecture = *isa::Architecture::find(kernel.architecture).value();
  KernelStatistics all;
  all.name = kernel.name;
  all.ctas = kernel.ctas();
  for (const Role& role : kernel.roles) {
    all.roles.push_back(RoleCounter(architecture, kernel, role).take());
    const RoleStatistics& counts = all.roles.back();
    all.instructions.in_text += counts.instructions.in_text;
    all.instructions.issued += counts.instructions.issued;
    all.bytes_read += counts.bytes_read;
    all.bytes_written += counts.bytes_written;
  }
  return all;
}

bool meets_in_grid(const Kernel& kernel) {
  return std::ranges::any_of(kernel.roles, [](const Role& role) { return arrives(role.body); });
}

uint64_t static_instructions(std::span<const Node> body) {
  uint64_t count = 0;
  for (const Node& node : body) {
    const auto* block = std::get_if<Block>(&node);
    count += block != nullptr ? block->code.size() : static_instructions(std::get<Loop>(node).body);
  }
  return count;
}

}  // namespace warpfold::traces
