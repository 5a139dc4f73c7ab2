#include "traces/connect.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "isa/assembler.h"
#include "isa/dependences.h"

namespace warpfold::traces {
namespace {

using isa::Instruction;

constexpr int kLongestStall = 15;  // the encoding's four bits

// Counters that may still be above zero when the code ends.
uint8_t held_counters(const std::vector<Instruction>& code) {
  unsigned held = 0;
  for (const Instruction& instruction : code) {
    held &= ~unsigned{instruction.control.wait_mask};
    for (const uint8_t counter : {instruction.control.write_counter, instruction.control.read_counter}) {
      if (counter != isa::kNoCounter) held |= 1U << counter;
    }
  }
  return static_cast<uint8_t>(held);
}

bool holds_counter(const Instruction& instruction) {
  return instruction.control.write_counter != isa::kNoCounter || instruction.control.read_counter != isa::kNoCounter;
}

// Cycles by which the last instruction of `before` must be held back for fixed-latency results that `after` uses.
int missing_cycles(const isa::Architecture& architecture, const std::vector<Instruction>& before,
                   const std::vector<Instruction>& after) {
  // Further from where they meet every result is there in time.
  size_t first = before.size();
  for (int cycles = 0; first > 0 && cycles < architecture.longest_latency();)
    cycles += std::max<int>(1, before[--first].control.stall);
  size_t end = 0;
  for (int cycles = 0; end < after.size() && cycles < architecture.longest_latency();)
    cycles += std::max<int>(1, after[end++].control.stall);
  std::vector<Instruction> joined(before.begin() + static_cast<std::ptrdiff_t>(first), before.end());
  const size_t border = joined.size();
  joined.insert(joined.end(), after.begin(), after.begin() + static_cast<std::ptrdiff_t>(end));
  std::vector<int> times(joined.size(), 0);
  for (size_t i = 1; i < joined.size(); ++i) times[i] = times[i - 1] + std::max<int>(1, joined[i - 1].control.stall);
  int missing = 0;
  for (const isa::Dependence& dependence : isa::find_dependences(architecture, joined, false)) {
    const bool across = dependence.producer < border && dependence.consumer >= border;
    if (!across || dependence.protection != isa::Protection::kStall) continue;
    missing = std::max(missing, dependence.cycles - (times[dependence.consumer] - times[dependence.producer]));
  }
  return missing;
}

Instruction no_operation(const isa::Architecture& architecture) {
  auto instruction = isa::parse_instruction(architecture, "NOP ;", "generated code", 0);
  if (!instruction) throw std::logic_error(instruction.error().text());
  return *std::move(instruction);
}

// NOPs that take `cycles` to issue.
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

// Part of a body where control comes from or goes to.
struct End {
  Block* block;
  bool loop;  // the whole body of an innermost loop
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

void uncount_copies(const isa::Architecture& architecture, std::vector<isa::Instruction>& code) {
  unsigned counted = 0;
  for (Instruction& instruction : code) {
    if (architecture.info(instruction).behaviour != isa::Behaviour::kCopyAsyncCommit) continue;
    counted |= 1U << instruction.control.write_counter;
    instruction.control.write_counter = isa::kNoCounter;
  }
  for (Instruction& instruction : code) instruction.control.wait_mask &= static_cast<uint8_t>(~counted);
}

void connect(const isa::Architecture& architecture, std::vector<Node>& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (auto* loop = std::get_if<Loop>(&body[i])) {
      connect(architecture, loop->body);
      connect_ends(architecture, last_end(loop->body, is_innermost(*loop)), first_end(loop->body, is_innermost(*loop)));
    }
    if (i + 1 == body.size()) continue;
    connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 1], false, true));
    const auto* next = std::get_if<Loop>(&body[i + 1]);
    const bool skippable = next != nullptr && next->trips.parameter >= 0 && i + 2 < body.size();
    if (skippable) connect_ends(architecture, end_of(body[i], false, false), end_of(body[i + 2], false, true));
  }
}

}  // namespace warpfold::traces
