#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/checks.h"
#include "traces/stats.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

Problem check_control(const isa::ControlCode& control) {
  const auto counter_exists = [](uint8_t counter) { return counter < isa::kDependenceCounters || counter == isa::kNoCounter; };
  if (control.stall > 15) {
    return "stall count " + std::to_string(control.stall) + "; it has four bits";
  }
  if (!counter_exists(control.write_counter) || !counter_exists(control.read_counter) ||
      control.wait_mask >> isa::kDependenceCounters != 0) {
    return "a dependence counter beyond SB5";
  }
  return {};
}

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

// Checks the shape in "HGMMA.64x128x16.F32". The machine derives wgmma timing from the columns, N of m64nNkK. PTX ISA,
// wgmma: 8..256 in steps of 8.
Problem check_shape(std::string_view mnemonic) {
  constexpr std::string_view kRows = ".64x";
  constexpr int kMostColumns = 256;
  constexpr int kColumnStep = 8;
  const size_t rows = mnemonic.find(kRows);
  if (rows == std::string_view::npos) return "no shape; expected one such as .64x128x16";
  int columns = 0;
  const char* end = mnemonic.data() + mnemonic.size();
  const auto [after, error] = std::from_chars(mnemonic.data() + rows + kRows.size(), end, columns);
  if (error != std::errc{} || after == end || *after != 'x') return "no shape; expected one such as .64x128x16";
  if (columns < kColumnStep || columns > kMostColumns || columns % kColumnStep != 0) {
    return std::to_string(columns) + " columns; wgmma has 8-256 in steps of 8";
  }
  return {};
}

// Walks the program of a role in text order and stops at the first problem.
class RoleCheck {
 public:
  RoleCheck(const isa::Architecture& architecture, const Kernel& kernel, size_t index)
      : architecture_(architecture),
        kernel_(kernel),
        role_(kernel.roles[index]),
        index_(index),
        last_(static_instructions(role_.body)) {}

  Problem check() {
    const std::string role = "role " + escape::unquoted(role_.name) + ": ";
    if (last_ == 0) return Fault(role + "no instructions", {Part::kRole, index_});
    if (const Problem problem = check_body(role_.body, 0)) return Fault(role + problem->message, problem->place);
    if (!ended_) return Fault(role + "does not end with EXIT", {Part::kRole, index_, last_});
    return {};
  }

 private:
  Problem check_body(const std::vector<Node>& body, int depth) {
    for (size_t i = 0; i < body.size(); ++i) {
      const Node& node = body[i];
      if (const auto* block = std::get_if<Block>(&node)) {
        for (const isa::Instruction& instruction : block->code) {
          ++position_;
          if (Problem problem = check_instruction(instruction, depth)) {
            return Fault("instruction " + std::to_string(position_) + " (" + escape::unquoted(instruction.mnemonic) +
                             "): " + problem->message,
                         {Part::kRole, index_, position_});
          }
        }
      } else {
        const bool last = static_instructions(std::span(body).subspan(i + 1)) == 0;
        if (Problem problem = check_loop(std::get<Loop>(node), depth + 1, last)) return problem;
      }
    }
    return {};
  }

  Problem check_loop(const Loop& loop, int depth, bool last) {
    if (const Problem problem = check_trips(loop, depth, last)) {
      const uint64_t next = position_ + 1;
      return Fault("loop before instruction " + std::to_string(next) + ": " + problem->message,
                   {Part::kRole, index_, std::min(next, last_)});
    }
    return check_body(loop.body, depth);
  }

  // `last`: no code follows the loop in the surrounding body, so a warp that skips the loop could not continue.
  Problem check_trips(const Loop& loop, int depth, bool last) const {
    const TripCount& trips = loop.trips;
    if (depth > kDeepestLoops) return "more than " + std::to_string(kDeepestLoops) + " loops inside each other";
    if (trips.literal == 0) return "0 trips; a loop runs at least once";
    if (trips.parameter < -1 || (trips.parameter >= 0 && static_cast<size_t>(trips.parameter) >= kernel_.parameters.size())) {
      return "parameter " + std::to_string(trips.parameter) + " of " + std::to_string(kernel_.parameters.size());
    }
    if (trips.parameter >= 0 && trips.literal != 1) return "both a parameter and a number of trips";
    if (last && trips.parameter >= 0) {
      const auto parameter = static_cast<size_t>(trips.parameter);
      for (const CtaClass& cta_class : kernel_.cta_classes) {
        if (cta_class.values[parameter] > 0) continue;
        return "class " + escape::unquoted(cta_class.name) + " has " + kernel_.parameters[parameter] +
               "=0; only a loop with code behind it can be skipped";
      }
    }
    if (static_instructions(loop.body) == 0) return "no instructions inside";
    return {};
  }

  Problem check_instruction(const isa::Instruction& instruction, int depth) {
    if (Problem problem = check_opcode(instruction)) return problem;
    if (Problem problem = check_control(instruction.control)) return problem;
    const isa::OpcodeInfo& opcode = architecture_.info(instruction);
    if (opcode.behaviour == isa::Behaviour::kExit && !passed_by(instruction)) {
      if (position_ != last_ || depth > 0) return "EXIT before the end of the role";
      if (instruction.guard.present) return "the EXIT that ends a role cannot have a guard";
      ended_ = true;
    }
    if (opcode.behaviour == isa::Behaviour::kWgmma) {
      if (Problem problem = check_shape(instruction.mnemonic)) return problem;
    }
    if (opcode.behaviour == isa::Behaviour::kDependenceWait) {
      if (Problem problem = check_counter(instruction)) return problem;
    }
    return check_effect(opcode, instruction, kernel_);
  }

  // True for @!PT EXIT before the end of the role: the warp passes an EXIT that none of its lanes takes.
  bool passed_by(const isa::Instruction& instruction) const { return instruction.guard.never() && position_ != last_; }

  static Problem check_counter(const isa::Instruction& instruction) {
    for (const isa::Operand& operand : instruction.operands) {
      const std::string& text = operand.text;
      if (text.size() == 3 && text.starts_with("SB") && text[2] >= '0' && text[2] < '0' + isa::kDependenceCounters) return {};
    }
    return "DEPBAR waits for one of SB0-SB5";
  }

  Problem check_opcode(const isa::Instruction& instruction) {
    const auto texts_printable = [](const isa::Operand& operand) { return printable(operand.text); };
    if (!printable(instruction.mnemonic) || !std::ranges::all_of(instruction.operands, texts_printable)) {
      return "a character that the text form cannot show";
    }
    const auto known = resolved_.find(instruction.mnemonic);
    if (known != resolved_.end() && known->second == instruction.opcode) return {};
    const Expected<uint16_t> opcode = architecture_.resolve(instruction.mnemonic);
    if (!opcode) return opcode.error().message;
    if (*opcode != instruction.opcode) {
      return "opcode number " + std::to_string(instruction.opcode) + "; " + architecture_.name() + " has it as " +
             std::to_string(*opcode);
    }
    resolved_.emplace(instruction.mnemonic, *opcode);
    return {};
  }

  const isa::Architecture& architecture_;
  const Kernel& kernel_;
  const Role& role_;
  size_t index_;
  uint64_t last_;
  uint64_t position_ = 0;
  bool ended_ = false;
  std::map<std::string_view, uint16_t> resolved_;
};

}  // namespace

Problem check_role(const isa::Architecture& architecture, const Kernel& kernel, size_t index) {
  return RoleCheck(architecture, kernel, index).check();
}

}  // namespace warpfold::traces
