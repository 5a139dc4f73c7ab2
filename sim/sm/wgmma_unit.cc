#include "sim/sm/wgmma_unit.h"

#include <algorithm>
#include <utility>

#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_inherit.h"

namespace warpfold::sim {
namespace {

uint32_t round_up_divide(uint32_t value, uint32_t by) { return (value + by - 1) / by; }

}  // namespace

int WgmmaUnit::width(const Sm& sm) { return std::min(sm.sub_cores(), WgmmaCommand::kWarps); }

int WgmmaUnit::sub_core_of(const Sm& sm, const WgmmaCommand& command, int i) {
  return (command.first_sub_core + i) % sm.sub_cores();
}

uint32_t WgmmaUnit::wavefronts(const Sm& sm, const WgmmaCommand& command) const {
  const uint32_t b = round_up_divide(command.columns, sm.spec().wgmma_columns_per_b_wavefront);
  return command.a_in_registers ? b : sm.spec().wgmma_a_wavefronts + b;
}

// `others`: wavefronts of other requests that went ahead of the command's own.
Cycle WgmmaUnit::interval(const Sm& sm, const WgmmaCommand& command, uint32_t others) const {
  const auto operands = static_cast<uint32_t>(sm.spec().data_stage_rate.at_rate(wavefronts(sm, command) + others));
  return std::max({sm.spec().wgmma_cycles(command.columns), operands, sm.spec().wgmma_floor});
}

// Returns the cycles from the start to the completion.
Cycle WgmmaUnit::latency(const Sm& sm, const WgmmaCommand& command) const {
  const uint32_t pipeline = command.a_in_registers ? sm.spec().wgmma_completion_rs : sm.spec().wgmma_completion;
  return pipeline + std::max(sm.spec().wgmma_cycles(command.columns), command.columns / 2U);
}

// Returns the length of the update's read window, which ends at the completion and begins no earlier than the command.
Cycle WgmmaUnit::read_window(const Sm& sm, const WgmmaCommand& command) const {
  const uint32_t pipeline = command.a_in_registers ? sm.spec().wgmma_completion_rs : sm.spec().wgmma_completion;
  return std::min(sm.spec().commit_window, pipeline);
}

void WgmmaUnit::handle(Sm& sm, const WgmmaEvent& event, Cycle now) {
  using enum WgmmaEvent::Kind;
  switch (event.kind) {
    case kStart:
      return try_start(sm, now);
    case kWrites:
      return begin_writes(sm, event.command, now);
    case kReads:
      return begin_reads(sm, event.command, now);
    case kComplete:
      return complete(sm, event.command, now);
  }
}

bool WgmmaUnit::admits(const Sm& sm, const Warp& warp) const {
  const SmState& state = sm.state();
  const Warpgroup& group = state.ctas[warp.cta].warpgroups[warp.index_in_cta / 4];
  return warp.wgmma_sequence < group.opened || waiting_ + state.open_wgmma < sm.spec().wgmma_fifo_entries;
}

void WgmmaUnit::issue(Sm& sm, Warp& warp, const MicroOp& op, Cycle now) {
  SmState& state = sm.state();
  Cta& cta = state.ctas[warp.cta];
  const int group = warp.index_in_cta / 4;
  Warpgroup& warpgroup = cta.warpgroups[group];
  const uint64_t sequence = warp.wgmma_sequence++;
  if (sequence == warpgroup.opened) {
    ++warpgroup.opened;
    ++state.open_wgmma;
    for (int w = group * 4; w < group * 4 + 4 && w < static_cast<int>(cta.warp_slots.size()); ++w) {
      const WarpPlace place = state.place_of(cta.warp_slots[w]);
      sm.sub_core(place.sub_core).reconsider(sm, place.slot, now);
    }
  }
  if (op.commit) ++warp.wgmma_groups;
  uint8_t& arrived = warpgroup.arrived[sequence % warpgroup.arrived.size()];
  Arrival& last = warpgroup.last[sequence % warpgroup.last.size()];
  join(sm, last, warp.cta, warp.delay, now);
  if (++arrived < 4) return;
  arrived = 0;
  --state.open_wgmma;
  WgmmaCommand command;
  command.owner = {warp.launch, state.account.row(warp.launch, op.segment), warp.cta, cta.serial};
  command.warpgroup = group;
  command.first_sub_core = state.place_of(cta.warp_slots[size_t{4} * static_cast<size_t>(group)]).sub_core;
  command.columns = op.columns;
  command.a_in_registers = op.a_elsewhere;
  command.commit = op.commit;
  command.delay = joined(sm, std::exchange(last, {}), warp.cta, now);
  assembled(sm, command, now);
}

// `command`: the last command of its group.
void WgmmaUnit::group_done(Sm& sm, const WgmmaCommand& command, Cycle now) {
  SmState& state = sm.state();
  if (!state.cta_lives(command.owner.cta, command.owner.cta_serial)) return;
  Cta& cta = state.ctas[command.owner.cta];
  cta.warpgroups[command.warpgroup].done = {now, command.delay};
  for (int w = command.warpgroup * 4; w < command.warpgroup * 4 + 4; ++w) {
    const WarpPlace place = state.place_of(cta.warp_slots[w]);
    SubCore& sub_core = sm.sub_core(place.sub_core);
    --sub_core.warp(place.slot).wgmma_groups;
    sub_core.reconsider(sm, place.slot, now, command.delay);
  }
}

void WgmmaUnit::assembled(Sm& sm, WgmmaCommand command, Cycle now) {
  command.assembled = now;
  at(next_id_++) = std::move(command);
  ++waiting_;
  schedule_start(sm, now);
}

void WgmmaUnit::schedule_start(Sm& sm, Cycle now) {
  if (waiting_ == 0) return;
  const Cycle next = std::max(now, pipe_.free_at());
  if (next >= start_at_) return;
  start_at_ = next;
  sm.schedule(next, WgmmaEvent{WgmmaEvent::Kind::kStart});
}

void WgmmaUnit::try_start(Sm& sm, Cycle now) {
  if (now != start_at_) return;
  start_at_ = kNever;
  if (waiting_ > 0 && pipe_.free_at() <= now) start(sm, next_start_++, now);
  schedule_start(sm, now);
}

void WgmmaUnit::start(Sm& sm, uint64_t id, Cycle now) {
  WgmmaCommand& command = at(id);
  --waiting_;
  const bool lives = sm.state().cta_lives(command.owner.cta, command.owner.cta_serial);
  Arrival* const before = lives ? &sm.state().ctas[command.owner.cta].warpgroups[command.warpgroup].started : nullptr;
  const uint32_t others = sm.memory().reserve_for_tensor(sm, now, wavefronts(sm, command), command.owner.launch);
  command.delay = pipe_.start(sm, command.owner, command.delay, command.assembled, interval(sm, command, others), before, now);
  busy_ += sm.spec().wgmma_cycles(command.columns);
  command.completion = now + latency(sm, command);
  // Writes take the last N/2 cycles: one register a cycle, an even and an odd one every second cycle.
  sm.schedule(command.completion - command.columns / 2U, WgmmaEvent{WgmmaEvent::Kind::kWrites, id});
  sm.schedule(command.completion - read_window(sm, command), WgmmaEvent{WgmmaEvent::Kind::kReads, id});
  sm.schedule(command.completion, WgmmaEvent{WgmmaEvent::Kind::kComplete, id});
  for (SubCore& sub_core : sm.state().sub_cores) sub_core.tensor_room(sm, isa::Pipe::kWgmma, command.delay, now);
}

void WgmmaUnit::begin_writes(Sm& sm, uint64_t id, Cycle now) {
  WgmmaCommand& command = at(id);
  const Cycle due = command.completion - command.columns / 2U;
  if (now < due) {  // an earlier command has been delayed meanwhile
    sm.schedule(due, WgmmaEvent{WgmmaEvent::Kind::kWrites, id});
    return;
  }
  command.writes_begun = true;
  for (int i = 0; i < width(sm); ++i) {
    SubCore& sub_core = sm.sub_core(sub_core_of(sm, command, i));
    command.pair_wait_cycles[i] = sub_core.ports().pair_wait_cycles();
    sub_core.begin_write_back(now, command.columns / 2U, command.owner.launch);
    command.update[i].writes = sub_core.ports().demand(now, 0, command.columns / 4U).writes;
  }
}

void WgmmaUnit::begin_reads(Sm& sm, uint64_t id, Cycle now) {
  WgmmaCommand& command = at(id);
  const Cycle due = command.completion - read_window(sm, command);
  if (now < due) {
    sm.schedule(due, WgmmaEvent{WgmmaEvent::Kind::kReads, id});
    return;
  }
  command.reads_begun = true;
  for (int i = 0; i < width(sm); ++i) {
    command.update[i].reads = sm.sub_core(sub_core_of(sm, command, i)).ports().demand(now, sm.spec().commit_reads, 0).reads;
  }
  command.reads_before = port_reads(sm);
}

void WgmmaUnit::complete(Sm& sm, uint64_t id, Cycle now) {
  WgmmaCommand& command = at(id);
  if (now < command.completion) {
    sm.schedule(command.completion, WgmmaEvent{WgmmaEvent::Kind::kComplete, id});
    return;
  }
  Cycle reads = 0;
  Cycle writes = 0;
  int written_by = command.owner.launch;
  for (int i = 0; i < width(sm); ++i) {
    SubCore& sub_core = sm.sub_core(sub_core_of(sm, command, i));
    const auto [missing_reads, missing_writes] = sub_core.ports().missing(now, command.update[i]);
    reads = std::max<Cycle>(reads, missing_reads);
    if (missing_writes > writes) {
      writes = missing_writes;
      written_by = sub_core.last_writer(0, command.owner.launch);
    }
  }
  for (int i = 0; i < width(sm); ++i) {
    SubCore& sub_core = sm.sub_core(sub_core_of(sm, command, i));
    const Cycle wide_results = sub_core.ports().pair_wait_cycles() - command.pair_wait_cycles[i];
    if (wide_results <= writes) continue;
    writes = wide_results;
    written_by = sub_core.wide_writer(command.owner.launch);
  }
  const Cycle delay = std::max(reads, writes);
  if (delay > 0) {
    wait_for_wide_results(sm, id);
    if (reads >= writes) {
      delay_after(sm, id, delay, wait_for_reads(sm, command, delay));
    } else {
      tell(sm, UpdateWaited{command.owner, written_by, Contended::kRegisterWritePort, delay});
      delay_after(sm, id, delay, written_by != command.owner.launch ? delay : 0);
    }
    sm.schedule(command.completion, WgmmaEvent{WgmmaEvent::Kind::kComplete, id});
    return;
  }
  if (command.commit) group_done(sm, command, now);
}

// Each command that writes back has now waited for the wide results so far.
void WgmmaUnit::wait_for_wide_results(Sm& sm, uint64_t id) {
  for (uint64_t later = id; later < next_start_; ++later) {
    WgmmaCommand& command = at(later);
    if (!command.writes_begun) continue;
    for (int i = 0; i < width(sm); ++i)
      command.pair_wait_cycles[i] = sm.sub_core(sub_core_of(sm, command, i)).ports().pair_wait_cycles();
  }
}

// The pipe stalls while an update waits: this command, the commands behind it and the next start all move. `lost` of
// the delay is due to other launches, the remaining delay to this launch. For commands of other launches, the whole
// delay is due to this launch.
void WgmmaUnit::delay_after(Sm& sm, uint64_t id, Cycle delay, Cycle lost) {
  const int launch = at(id).owner.launch;
  for (uint64_t later = id; later < next_start_; ++later) {
    WgmmaCommand& command = at(later);
    const Cycle others = command.owner.launch == launch ? lost : delay;
    command.completion += delay;
    hold_up(sm.state(), command.delay, command.owner.launch, command.owner.cta, command.owner.cta_serial, {others, delay});
  }
  pipe_.stand_still(sm, launch, delay, lost);
}

}  // namespace warpfold::sim
