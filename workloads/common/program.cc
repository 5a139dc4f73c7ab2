#include "workloads/common/program.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "isa/assembler.h"
#include "isa/block_border.h"
#include "isa/control_code_assigner.h"
#include "isa/operand.h"

namespace warpfold::workloads {
namespace {

using isa::held_counters;
using isa::Instruction;
using isa::missing_cycles;

constexpr int kLongestStall = 15;  // the encoding's four bits

Instruction parse(const isa::Architecture& architecture, std::string_view text) {
  auto instruction = isa::parse_instruction(architecture, text, "generated code", 0);
  if (!instruction) throw std::logic_error(instruction.error().text() + " in: " + std::string(text));
  return *std::move(instruction);
}

bool holds_counter(const Instruction& instruction) {
  return instruction.control.write_counter != isa::kNoCounter || instruction.control.read_counter != isa::kNoCounter;
}

// NOPs that take `cycles` to issue.
std::vector<Instruction> bubble(const isa::Architecture& architecture, int cycles) {
  std::vector<Instruction> nops;
  while (cycles > 0) {
    Instruction nop = parse(architecture, "NOP ;");
    nop.control.stall = static_cast<uint8_t>(std::min(cycles, kLongestStall));
    cycles -= nop.control.stall;
    nops.push_back(std::move(nop));
  }
  return nops;
}

// Part of a body where control comes from or goes to.
struct End {
  traces::Block* block;
  bool loop;  // the whole body of an innermost loop
};

End first_end(std::vector<traces::Node>& nodes, bool innermost = false);
End last_end(std::vector<traces::Node>& nodes, bool innermost = false);

bool is_innermost(const traces::Loop& loop) {
  return loop.body.size() == 1 && std::holds_alternative<traces::Block>(loop.body.front());
}

End end_of(traces::Node& node, bool innermost, bool first) {
  if (auto* block = std::get_if<traces::Block>(&node)) return {block, innermost};
  auto& loop = std::get<traces::Loop>(node);
  return first ? first_end(loop.body, is_innermost(loop)) : last_end(loop.body, is_innermost(loop));
}
End first_end(std::vector<traces::Node>& nodes, bool innermost) { return end_of(nodes.front(), innermost, true); }
End last_end(std::vector<traces::Node>& nodes, bool innermost) { return end_of(nodes.back(), innermost, false); }

void connect_after_block(const isa::Architecture& architecture, std::vector<Instruction>& before,
                         const std::vector<Instruction>& after) {
  if (const uint8_t held = held_counters(before); held != 0) {
    if (holds_counter(before.back())) {
      before.back().control.stall = std::max<uint8_t>(before.back().control.stall, 2);  // an increment shows a cycle late
      before.push_back(bubble(architecture, 1).front());
    }
    before.back().control.wait_mask |= held;
  }
  const int missing = missing_cycles(architecture, before, after);
  const int room = std::min(missing, kLongestStall - before.back().control.stall);
  before.back().control.stall = static_cast<uint8_t>(before.back().control.stall + room);
  for (Instruction& nop : bubble(architecture, missing - room)) before.push_back(std::move(nop));
}

void connect_after_loop(const isa::Architecture& architecture, const std::vector<Instruction>& before,
                        std::vector<Instruction>& after) {
  std::vector<Instruction> nops = bubble(architecture, missing_cycles(architecture, before, after));
  after.insert(after.begin(), std::make_move_iterator(nops.begin()), std::make_move_iterator(nops.end()));
  after.front().control.wait_mask |= held_counters(before);
}

void connect_ends(const isa::Architecture& architecture, End before, End after) {
  if (before.block == after.block) return;  // an innermost loop: assigned or recorded as one
  if (!before.loop) {
    connect_after_block(architecture, before.block->code, after.block->code);
  } else if (!after.loop) {
    connect_after_loop(architecture, before.block->code, after.block->code);
  }
  // A loop straight behind a loop is the same recording with other effects: what holds round the loop holds here.
}

}  // namespace

std::string line(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const std::string_view part : parts) text += part;
  return text;
}
std::string general(uint64_t index) { return line({"R", std::to_string(index)}); }
std::string uniform(uint64_t index) { return line({"UR", std::to_string(index)}); }
std::string immediate(uint64_t value) { return std::to_string(value); }

std::string wgmma_name(configs::ElementType type, uint32_t columns) {
  const std::string width = std::to_string(columns);
  if (type == configs::FP8) return line({"QGMMA.64x", width, "x32.F32.E4M3.E4M3"});
  return line({"HGMMA.64x", width, type == configs::BF16 ? "x16.F32.BF16" : "x16.F32"});
}

Code& Code::add(std::string_view text, const isa::Effect& effect) {
  Instruction instruction = parse(*architecture_, std::string(text) + " ;");
  instruction.effect = effect;
  instructions_.push_back(std::move(instruction));
  return *this;
}

Code& Code::add(const std::vector<isa::Instruction>& more) {
  instructions_.insert(instructions_.end(), more.begin(), more.end());
  return *this;
}

traces::Block block_of(const Code& code) {
  traces::Block block{code.instructions()};
  isa::assign_control_codes(code.architecture(), block.code, false);
  isa::uncount_copies(code.architecture(), block.code);
  return block;
}

traces::Loop loop_of(const Code& code, traces::TripCount trips) {
  traces::Block block{code.instructions()};
  isa::assign_control_codes(code.architecture(), block.code, true);
  return {trips, {std::move(block)}};
}

void connect(const isa::Architecture& architecture, std::vector<traces::Node>& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (auto* loop = std::get_if<traces::Loop>(&body[i])) {
      connect(architecture, loop->body);
      connect_ends(architecture, last_end(loop->body, is_innermost(*loop)), first_end(loop->body, is_innermost(*loop)));
    }
    if (i + 1 == body.size()) continue;
    connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 1], false, true));
    const auto* next = std::get_if<traces::Loop>(&body[i + 1]);
    const bool skippable = next != nullptr && next->trips.parameter >= 0 && i + 2 < body.size();
    if (skippable) connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 2], false, true));
  }
}

namespace {

uint32_t highest_register(const std::vector<traces::Node>& nodes) {
  uint32_t highest = 0;
  for (const traces::Node& node : nodes) {
    if (const auto* loop = std::get_if<traces::Loop>(&node)) {
      highest = std::max(highest, highest_register(loop->body));
      continue;
    }
    for (const Instruction& instruction : std::get<traces::Block>(node).code) {
      for (const isa::Operand& operand : instruction.operands) {
        for (const isa::RegisterRange& range : isa::registers_of(operand)) {
          if (range.file == isa::OperandKind::kRegister) highest = std::max<uint32_t>(highest, range.first + range.count - 1U);
        }
      }
    }
  }
  return highest;
}

}  // namespace

uint32_t registers_named(const std::vector<traces::Role>& roles) {
  uint32_t highest = 0;
  for (const traces::Role& role : roles) highest = std::max(highest, highest_register(role.body));
  return std::min<uint32_t>((highest + 1 + 7) / 8 * 8, 255);
}

}  // namespace warpfold::workloads
