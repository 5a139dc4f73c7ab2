#include "traces/accelsim/schedule.h"

#include <algorithm>

#include "isa/architecture.h"
#include "isa/block_border.h"
#include "isa/control_code_assigner.h"

namespace warpfold::traces::accelsim {
namespace {

constexpr int kLongestStall = 15;  // four bits of the control code

bool is_one_block(const std::vector<Node>& body) { return body.size() == 1 && std::holds_alternative<Block>(body.front()); }

Block& first_block(std::vector<Node>& body) {
  auto* loop = std::get_if<Loop>(&body.front());
  return loop != nullptr ? first_block(loop->body) : std::get<Block>(body.front());
}
Block& last_block(std::vector<Node>& body) {
  auto* loop = std::get_if<Loop>(&body.back());
  return loop != nullptr ? last_block(loop->body) : std::get<Block>(body.back());
}
Block& first_block(Node& node) {
  auto* loop = std::get_if<Loop>(&node);
  return loop != nullptr ? first_block(loop->body) : std::get<Block>(node);
}
Block& last_block(Node& node) {
  auto* loop = std::get_if<Loop>(&node);
  return loop != nullptr ? last_block(loop->body) : std::get<Block>(node);
}

void assign(const isa::Architecture& architecture, std::vector<Node>& body, bool loop) {
  for (Node& node : body) {
    if (auto* inner = std::get_if<Loop>(&node)) {
      assign(architecture, inner->body, is_one_block(inner->body));
      continue;
    }
    auto& code = std::get<Block>(node).code;
    isa::assign_control_codes(architecture, code, loop);
    isa::uncount_copies(architecture, code);
  }
}

bool holds_counter(const isa::Instruction& instruction) {
  return instruction.control.write_counter != isa::kNoCounter || instruction.control.read_counter != isa::kNoCounter;
}

void meet(const isa::Architecture& architecture, Block& before, Block& after) {
  if (&before == &after) return;  // its codes were assigned as those of a loop
  isa::Instruction& last = before.code.back();
  if (holds_counter(last)) last.control.stall = std::max<uint8_t>(last.control.stall, 2);  // an increment is visible one cycle late
  after.code.front().control.wait_mask |= isa::held_counters(before.code);
  int missing = isa::missing_cycles(architecture, before.code, after.code);
  const int room = std::min(missing, kLongestStall - last.control.stall);
  if (room > 0) last.control.stall = static_cast<uint8_t>(last.control.stall + room);
}

void meet_all(const isa::Architecture& architecture, std::vector<Node>& body) {
  for (size_t i = 0; i < body.size(); ++i) {
    if (auto* loop = std::get_if<Loop>(&body[i])) {
      meet_all(architecture, loop->body);
      meet(architecture, last_block(loop->body), first_block(loop->body));
    }
    // A loop may have no trips, so the code before it also meets the code after it.
    for (size_t next = i + 1; next < body.size(); ++next) {
      meet(architecture, last_block(body[i]), first_block(body[next]));
      const auto* skipped = std::get_if<Loop>(&body[next]);
      if (skipped == nullptr || skipped->trips.parameter < 0) break;
    }
  }
}

}  // namespace

void assign_control_codes(const isa::Architecture& architecture, std::vector<Node>& body) {
  assign(architecture, body, false);
  meet_all(architecture, body);
}

}  // namespace warpfold::traces::accelsim
