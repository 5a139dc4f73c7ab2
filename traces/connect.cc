#include "traces/connect.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "isa/assembler.h"
#include "isa/block_border.h"
#include "isa/control_code_assigner.h"

namespace warpfold::traces {
namespace {

using isa::held_counters;
using isa::Instruction;
using isa::missing_cycles;

constexpr int kLongestStall = 15;  // four bits of the control code

bool holds_counter(const Instruction& instruction) {
  return instruction.control.write_counter != isa::kNoCounter || instruction.control.read_counter != isa::kNoCounter;
}

Instruction no_operation(const isa::Architecture& architecture) {
  auto instruction = isa::parse_instruction(architecture, "NOP ;", "generated code", 0);
  if (!instruction) throw std::logic_error(instruction.error().text());
  return *std::move(instruction);
}

// Returns NOPs that take `cycles` to issue.
std::vector<Instruction> bubble(const isa::Architecture& architecture, int cycles) {
  std::vector<Instruction> nops;
  while (cycles > 0) {
    Instruction nop = no_operation(architecture);
    nop.control.stall = static_cast<uint8_t>(std::min(cycles, kLongestStall));
    cycles -= nop.control.stall;
    nops.push_back(std::move(nop));
  }
  return nops;
}

// Block at which control enters or leaves a body.
struct End {
  Block* block;
  bool loop;  // the block is the whole body of an innermost loop
};

End first_end(std::vector<Node>& nodes, bool innermost = false);
End last_end(std::vector<Node>& nodes, bool innermost = false);

bool is_innermost(const Loop& loop) { return loop.body.size() == 1 && std::holds_alternative<Block>(loop.body.front()); }

End end_of(Node& node, bool innermost, bool first) {
  if (auto* block = std::get_if<Block>(&node)) return {block, innermost};
  auto& loop = std::get<Loop>(node);
  return first ? first_end(loop.body, is_innermost(loop)) : last_end(loop.body, is_innermost(loop));
}
End first_end(std::vector<Node>& nodes, bool innermost) { return end_of(nodes.front(), innermost, true); }
End last_end(std::vector<Node>& nodes, bool innermost) { return end_of(nodes.back(), innermost, false); }

void connect_in_instructions(const isa::Architecture& architecture, std::vector<Instruction>& before,
                             std::vector<Instruction>& after) {
  if (const uint8_t held = held_counters(before); held != 0) {
    if (holds_counter(before.back())) before.back().control.stall = std::max<uint8_t>(before.back().control.stall, 2);
    after.front().control.wait_mask |= held;
  }
  // Raises stall counts from the end backwards while that reduces the missing cycles. A stall before the producer does
  // not reduce them.
  int missing = missing_cycles(architecture, before, after);
  for (size_t i = before.size(); i-- > 0 && missing > 0;) {
    uint8_t& stall = before[i].control.stall;
    const auto room = static_cast<uint8_t>(std::clamp(kLongestStall - int{stall}, 0, missing));
    stall = static_cast<uint8_t>(stall + room);
    const int left = missing_cycles(architecture, before, after);
    if (room > 0 && left == missing) {
      stall = static_cast<uint8_t>(stall - room);
      break;
    }
    missing = left;
  }
  std::vector<Instruction> nops = bubble(architecture, missing);
  after.insert(after.begin(), std::make_move_iterator(nops.begin()), std::make_move_iterator(nops.end()));
}

void connect_after_block(const isa::Architecture& architecture, std::vector<Instruction>& before,
                         const std::vector<Instruction>& after) {
  if (const uint8_t held = held_counters(before); held != 0) {
    if (holds_counter(before.back())) {
      before.back().control.stall = std::max<uint8_t>(before.back().control.stall, 2);  // an increment is visible one cycle late
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

void connect_ends(const isa::Architecture& architecture, End before, End after, Waits waits) {
  if (before.block == after.block) return;  // an innermost loop: its control codes already cover the step from its end to its start
  if (waits == Waits::kInInstructions) return connect_in_instructions(architecture, before.block->code, after.block->code);
  if (!before.loop) {
    connect_after_block(architecture, before.block->code, after.block->code);
  } else if (!after.loop) {
    connect_after_loop(architecture, before.block->code, after.block->code);
  }
  // Two adjacent loops are the same recording with different effects, so the loop's own codes cover the step
  // between them.
}

void erase_empty_blocks(std::vector<Node>& body) {
  std::erase_if(body, [](const Node& node) { return std::holds_alternative<Block>(node) && std::get<Block>(node).code.empty(); });
}

void assign_blocks(const isa::Architecture& architecture, std::vector<Node>& body, bool innermost) {
  for (Node& node : body) {
    if (auto* loop = std::get_if<Loop>(&node)) {
      erase_empty_blocks(loop->body);
      assign_blocks(architecture, loop->body, is_innermost(*loop));
      continue;
    }
    std::vector<Instruction>& code = std::get<Block>(node).code;
    isa::assign_control_codes(architecture, code, innermost);
    isa::remove_copy_counter(architecture, code);
  }
}

}  // namespace

void connect(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (auto* loop = std::get_if<Loop>(&body[i])) {
      connect(architecture, loop->body, waits);
      connect_ends(architecture, last_end(loop->body, is_innermost(*loop)), first_end(loop->body, is_innermost(*loop)), waits);
    }
    if (i + 1 == body.size()) continue;
    connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 1], false, true), waits);
    const auto* next = std::get_if<Loop>(&body[i + 1]);
    const bool skippable = next != nullptr && next->trips.parameter >= 0 && i + 2 < body.size();
    if (skippable) connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 2], false, true), waits);
  }
}

void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body, Waits waits) {
  erase_empty_blocks(body);
  assign_blocks(architecture, body, false);
  connect(architecture, body, waits);
}

}  // namespace warpfold::traces
