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

using isa::Instruction;

Instruction parse(const isa::Architecture& architecture, std::string_view text) {
  auto instruction = isa::parse_instruction(architecture, text, "generated code", 0);
  if (!instruction) throw std::logic_error(instruction.error().text() + " in: " + std::string(text));
  return *std::move(instruction);
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
  isa::remove_copy_counter(code.architecture(), block.code);
  return block;
}

traces::Loop loop_of(const Code& code, traces::TripCount trips) {
  traces::Block block{code.instructions()};
  isa::assign_control_codes(code.architecture(), block.code, true);
  return {trips, {std::move(block)}};
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
