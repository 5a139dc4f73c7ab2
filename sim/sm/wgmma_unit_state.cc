#include <algorithm>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

void WgmmaUnit::visit(Sm& sm, StateVisitor& visitor, uint64_t oldest, Cycle blocked_since) {
  // The binding lists all fields. Numbers of commands count from the oldest.
  [[maybe_unused]] auto& [commands, next_id, next_start, waiting, pipe, start_at, busy] = *this;
  visitor.relative("wgmma_waiting", waiting_);
  visitor.relative("wgmma_in_flight", next_start_ - oldest);
  Cycle earliest = std::min(visitor.now(), blocked_since);
  for (uint64_t id = oldest; id < next_id_; ++id) {
    const bool waits = id >= next_start_;
    if (waits) earliest = std::min(earliest, at(id).assembled);
    visit_command(sm, at(id), waits, visitor);
  }
  pipe_.visit(sm, visitor, oldest < next_start_, earliest);
  visitor.time("wgmma_start", start_at_);
  visitor.count(busy_);
}

// A command's number counts back from the command that starts next.
EventKey WgmmaUnit::key_of(const WgmmaEvent& event) const {
  const bool of_command = event.kind != WgmmaEvent::Kind::kStart;
  return {.kind = static_cast<uint8_t>(event.kind), .value = of_command ? next_start_ - event.command : 0};
}

void WgmmaUnit::visit_command(Sm& sm, WgmmaCommand& command, bool waits, StateVisitor& visitor) {
  [[maybe_unused]] const auto& [owner, warpgroup, first_sub_core, columns, a_in_registers, commit, delay, assembled_at, completion,
                                writes_begun, reads_begun, update, pair_wait_cycles, reads_before] = command;
  visitor.values("command_launch", owner.launch, "command_row", owner.row);
  visitor.values("command_cta", owner.cta, "command_cta_lives", sm.state().cta_lives(owner.cta, owner.cta_serial));
  visitor.values("command_warpgroup", command.warpgroup * static_cast<int>(kMostSubCores) + command.first_sub_core,
                 "command_columns", command.columns, "command_a_in_registers", command.a_in_registers, "command_commit",
                 command.commit);
  visit_delay(sm, "command_delay", owner.launch, owner.cta, owner.cta_serial, command.delay, visitor);
  if (waits) {
    visitor.moment("command_assembled", command.assembled);
    return;
  }
  visitor.moment("command_completion", command.completion);
  visitor.value("command_writes_begun", command.writes_begun);
  visitor.value("command_reads_begun", command.reads_begun);
  for (int i = 0; i < width(sm); ++i) {
    const RegisterPorts& ports = sm.sub_core(sub_core_of(sm, command, i)).ports();
    if (command.writes_begun) visitor.relative("command_writes", ports.unserved_writes(command.update[i]));
    if (command.writes_begun) visitor.relative("command_given_way", ports.pair_wait_cycles() - command.pair_wait_cycles[i]);
    if (command.reads_begun) visitor.relative("command_reads", ports.unserved_reads(command.update[i]));
  }
  if (!command.reads_begun) return;
  const std::vector<uint64_t> reads = port_reads(sm);
  for (size_t l = 0; l < reads.size(); ++l) visitor.relative("command_reads_before", reads[l] - command.reads_before[l]);
}

}  // namespace warpfold::sim
