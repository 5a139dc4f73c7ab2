#include "tools/warpfold/figures/accounts.h"

#include <array>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include "isa/assembler.h"
#include "sim/account/accounting.h"

namespace warpfold::cli {
namespace {

using google::protobuf::RepeatedPtrField;

void add_states(const std::array<uint64_t, sim::kWarpStates>& cycles, RepeatedPtrField<configs::StateCycles>& states) {
  for (size_t s = 0; s < cycles.size(); ++s) {
    if (cycles[s] == 0) continue;
    configs::StateCycles& entry = *states.Add();
    entry.set_state(std::string(sim::state_name(static_cast<sim::WarpState>(s))));
    entry.set_warp_cycles(cycles[s]);
  }
}

void add_losses(const policies::Plan& plan, size_t victim, const sim::SegmentCounters& segment, configs::PhaseAccount& phase) {
  for (size_t culprit = 0; culprit < segment.lost.size(); ++culprit) {
    for (size_t r = 0; r < sim::kContended; ++r) {
      const uint64_t lost = segment.lost[culprit][r] + segment.requests_lost[culprit][r];
      if (lost == 0) continue;
      configs::LedgerEntry& entry = *phase.add_ledger();
      entry.set_victim(plan.kernels[victim].kernel.name);
      entry.set_culprit(plan.kernels[culprit].kernel.name);
      entry.set_resource(std::string(sim::contended_name(static_cast<sim::Contended>(r))));
      entry.set_warp_cycles(lost);
    }
  }
}

uint64_t issued(const sim::SegmentCounters& segment) { return segment.states[static_cast<size_t>(sim::WarpState::kSelected)]; }

// Returns the sum of segments of one phase, whose instructions may have a segment each.
sim::SegmentCounters sum(const std::vector<const sim::SegmentCounters*>& parts) {
  sim::SegmentCounters all = *parts.front();
  for (size_t p = 1; p < parts.size(); ++p) {
    for (size_t s = 0; s < all.states.size(); ++s) {
      all.states[s] += parts[p]->states[s];
      all.inherited[s] += parts[p]->inherited[s];
    }
    for (size_t c = 0; c < all.lost.size(); ++c) {
      for (size_t r = 0; r < sim::kContended; ++r) {
        all.lost[c][r] += parts[p]->lost[c][r];
        all.requests_lost[c][r] += parts[p]->requests_lost[c][r];
      }
    }
  }
  return all;
}

void add_phases(const policies::Plan& plan, size_t index, uint32_t role, const sim::KernelCounters& counters,
                configs::RoleAccount& account) {
  for (int p = 0; p < sim::kPhases; ++p) {
    std::vector<const sim::SegmentCounters*> parts;
    for (const sim::SegmentCounters& each : counters.segments) {
      if (each.segment.role == role && each.segment.phase == static_cast<sim::Phase>(p)) parts.push_back(&each);
    }
    if (parts.empty()) continue;
    const sim::SegmentCounters segment = sum(parts);
    configs::PhaseAccount& phase = *account.add_phases();
    phase.set_phase(std::string(sim::phase_name(segment.segment.phase)));
    phase.set_instructions_issued(issued(segment));
    phase.set_resident_warp_cycles(std::accumulate(segment.states.begin(), segment.states.end(), uint64_t{0}));
    add_states(segment.states, *phase.mutable_states());
    add_states(segment.inherited, *phase.mutable_inherited());
    add_losses(plan, index, segment, phase);
  }
}

// Appends the instructions of a role's program in program order; a loop's body appears once.
void add_text(const std::vector<traces::Node>& body, std::vector<std::string>& text) {
  for (const traces::Node& node : body) {
    if (const auto* loop = std::get_if<traces::Loop>(&node)) {
      add_text(loop->body, text);
      continue;
    }
    for (const isa::Instruction& instruction : std::get<traces::Block>(node).code)
      text.push_back(isa::format_instruction(instruction));
  }
}

void add_instructions(const traces::Kernel& kernel, const sim::KernelCounters& counters, configs::KernelResult& result) {
  std::vector<std::vector<std::string>> text(kernel.roles.size());
  size_t instructions = 0;
  for (size_t r = 0; r < kernel.roles.size(); ++r) {
    add_text(kernel.roles[r].body, text[r]);
    instructions += text[r].size();
  }
  if (counters.segments.size() != instructions) return;  // the run counted by phase, not by instruction
  for (const sim::SegmentCounters& segment : counters.segments) {
    configs::InstructionAccount& account = *result.add_instructions();
    account.set_role(kernel.roles[segment.segment.role].name);
    account.set_position(segment.segment.position);
    account.set_text(text[segment.segment.role][segment.segment.position]);
    account.set_phase(std::string(sim::phase_name(segment.segment.phase)));
    account.set_issued(issued(segment));
    add_states(segment.states, *account.mutable_states());
  }
}

}  // namespace

void fill_accounts(const policies::Plan& plan, size_t index, const sim::KernelCounters& counters, configs::KernelResult& result) {
  if constexpr (!sim::kAccounting) return;
  const traces::Kernel& kernel = plan.kernels[index].kernel;
  for (uint32_t r = 0; r < kernel.roles.size(); ++r) {
    configs::RoleAccount& role = *result.add_roles();
    role.set_role(kernel.roles[r].name);
    role.set_warps_per_cta(kernel.roles[r].warps);
    add_phases(plan, index, r, counters, role);
  }
  add_instructions(kernel, counters, result);
}

}  // namespace warpfold::cli
