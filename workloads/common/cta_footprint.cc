#include "workloads/common/cta_footprint.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "isa/architecture.h"

namespace warpfold::workloads {
namespace {

bool moves_registers(const isa::Architecture& architecture, const std::vector<traces::Node>& body) {
  return std::ranges::any_of(body, [&](const traces::Node& node) {
    if (const auto* loop = std::get_if<traces::Loop>(&node)) return moves_registers(architecture, loop->body);
    return std::ranges::any_of(std::get<traces::Block>(node).code, [&](const isa::Instruction& instruction) {
      return architecture.info(instruction).behaviour == isa::Behaviour::kSetMaxRegisters;
    });
  });
}

}  // namespace

bool moves_registers(const traces::Kernel& kernel) {
  const isa::Architecture& architecture = **isa::Architecture::find(kernel.architecture);
  return std::ranges::any_of(kernel.roles, [&](const traces::Role& role) { return moves_registers(architecture, role.body); });
}

Expected<void> apply_footprint(const configs::Footprint& footprint, traces::Kernel& kernel) {
  if (footprint.has_registers_per_thread() && footprint.registers_per_thread() != kernel.registers_per_thread) {
    if (moves_registers(kernel))
      return fail_in("registers_per_thread", "its warpgroups divide the " + std::to_string(kernel.registers_per_thread) +
                                                 " registers of its launch among them (setmaxnreg)");
    kernel.registers_per_thread = footprint.registers_per_thread();
  }
  if (footprint.has_shared_memory_bytes()) kernel.shared_memory_bytes = footprint.shared_memory_bytes();
  return {};
}

}  // namespace warpfold::workloads
