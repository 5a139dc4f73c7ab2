#include <algorithm>

#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"
#include "sim/sm/wgmma_unit.h"

namespace warpfold::sim {

void WgmmaUnit::visit(Sm& sm, StateVisitor& visitor, uint64_t oldest, Cycle blocked_since) {
  // Every field. Numbers of commands count from the oldest; pipe_launch is its CTA's.
  [[maybe_unused]] auto& [commands, next_id, next_start, waiting, free_at, pipe, pipe_launch, pipe_cta, pipe_serial, start_at, busy,
                          history] = *this;
  visitor.relative("wgmma_waiting", waiting_);
  visitor.relative("wgmma_in_flight", next_start_ - oldest);
  Cycle earliest = std::min(visitor.now(), blocked_since);
  for (uint64_t id = oldest; id < next_id_; ++id) {
    const bool waits = id >= next_start_;
    if (waits) earliest = std::min(earliest, at(id).assembled);
    visit_command(sm, at(id), waits, visitor);
  }
  history_.visit(visitor, earliest);
  // A delay moves it even when it is past, as long as a command is in flight.
  if (oldest < next_start_) {
    visitor.moment("wgmma_free", free_at_);
  } else {
    visitor.time("wgmma_free", free_at_);
  }
  visitor.time("wgmma_start", start_at_);
  visit_pipe(sm, visitor);
  visitor.count(busy_);
}

// A command counts from the one that starts next.
EventKey WgmmaUnit::key_of(const WgmmaEvent& event) const {
  const bool of_command = event.kind != WgmmaEvent::Kind::kStart;
  return {.kind = static_cast<uint8_t>(event.kind), .value = of_command ? next_start_ - event.command : 0};
}

// Whose command it did last matters to the next of the same CTA.
void WgmmaUnit::visit_pipe(Sm& sm, StateVisitor& visitor) {
  const bool lives = sm.state().cta_lives(pipe_cta_, pipe_serial_);
  visitor.value("pipe_cta", lives ? static_cast<uint64_t>(pipe_cta_) + 1 : 0);
  Arrival nobodys;
  visit_arrival(sm, "pipe_late", pipe_cta_, lives ? pipe_ : nobodys, visitor);
}

void WgmmaUnit::visit_command(Sm& sm, WgmmaCommand& command, bool waits, StateVisitor& visitor) {
  [[maybe_unused]] const auto& [launch, row, cta, warpgroup, cta_serial, columns, a_in_registers, commit, delay, assembled_at,
                                completion, writes_begun, reads_begun, update, reads_before] = command;
  visitor.values("command_launch", command.launch, "command_row", command.row);
  visitor.values("command_cta", command.cta, "command_cta_lives", sm.state().cta_lives(command.cta, command.cta_serial));
  visitor.values("command_warpgroup", command.warpgroup, "command_columns", command.columns, "command_a_in_registers",
                 command.a_in_registers, "command_commit", command.commit);
  visit_delay(sm, "command_delay", command.launch, command.cta, command.cta_serial, command.delay, visitor);
  if (waits) {
    visitor.moment("command_assembled", command.assembled);
    return;
  }
  visitor.moment("command_completion", command.completion);
  visitor.value("command_writes_begun", command.writes_begun);
  visitor.value("command_reads_begun", command.reads_begun);
  for (int c = 0; c < sm.sub_cores(); ++c) {
    const RegisterPorts& ports = sm.sub_core(c).ports();
    if (command.writes_begun) visitor.relative("command_writes", ports.unserved_writes(command.update[c]));
    if (command.reads_begun) visitor.relative("command_reads", ports.unserved_reads(command.update[c]));
  }
  if (!command.reads_begun) return;
  const std::vector<uint64_t> reads = port_reads(sm);
  for (size_t l = 0; l < reads.size(); ++l) visitor.relative("command_reads_before", reads[l] - command.reads_before[l]);
}

void WgmmaUnit::add_port_reads(Sm& sm, uint64_t oldest, const std::vector<uint64_t>& before) {
  const std::vector<uint64_t> reads = port_reads(sm);
  for (uint64_t id = oldest; id < next_start_; ++id) {
    if (!at(id).reads_begun) continue;
    for (size_t l = 0; l < reads.size(); ++l) at(id).reads_before[l] += reads[l] - before[l];
  }
}

}  // namespace warpfold::sim
