#include "sim/sm/wgmma_unit.h"

#include <algorithm>
#include <numeric>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

uint32_t round_up_divide(uint32_t value, uint32_t by) { return (value + by - 1) / by; }

}  // namespace

WgmmaUnit::WgmmaUnit(const Spec& spec, Sm& sm, Account& account) : spec_(spec), sm_(&sm), account_(&account) {}

uint32_t WgmmaUnit::wavefronts(const Command& command) const {
  const uint32_t b = round_up_divide(command.columns, spec_.wgmma_columns_per_b_wavefront);
  return command.a_in_registers ? b : spec_.wgmma_a_wavefronts + b;
}

Cycle WgmmaUnit::interval(const Command& command) const {
  const auto operands = static_cast<uint32_t>(spec_.data_stage_rate.at_rate(wavefronts(command)));
  return std::max({spec_.wgmma_cycles(command.columns), operands, spec_.wgmma_floor});
}

// The last cycles before the completion in which the update finds its read slots; not before the start.
Cycle WgmmaUnit::read_window(const Command& command) const {
  const uint32_t pipeline = command.a_in_registers ? spec_.wgmma_completion_rs : spec_.wgmma_completion;
  return std::min(spec_.commit_window, pipeline);
}

void WgmmaUnit::assembled(Command command, Cycle now) {
  command.assembled = now;
  at(next_id_++) = std::move(command);
  ++waiting_;
  schedule_start(now);
}

void WgmmaUnit::schedule_start(Cycle now) {
  if (waiting_ == 0) return;
  const Cycle next = std::max(now, free_at_);
  if (next >= start_at_) return;
  start_at_ = next;
  sm_->schedule(next, {.type = Sm::EventType::kWgmmaStart});
}

void WgmmaUnit::try_start(Cycle now) {
  if (now != start_at_) return;
  start_at_ = kNever;
  if (waiting_ > 0 && free_at_ <= now) start(next_start_++, now);
  schedule_start(now);
}

void WgmmaUnit::start(uint64_t id, Cycle now) {
  Command& command = at(id);
  --waiting_;
  charge_start(command, now);
  history_.hold(now, command.launch);
  const uint32_t tensor = spec_.wgmma_cycles(command.columns);
  busy_ += tensor;
  free_at_ = now + interval(command);
  sm_->memory().reserve_for_wgmma(now, wavefronts(command), command.launch);
  const uint32_t pipeline = command.a_in_registers ? spec_.wgmma_completion_rs : spec_.wgmma_completion;
  command.completion = now + pipeline + std::max(tensor, command.columns / 2U);
  // Writes stretch over the last N/2 cycles: one register a cycle, an even and an odd one every second.
  sm_->schedule(command.completion - command.columns / 2U, {.type = Sm::EventType::kWgmmaWrites, .value = id});
  sm_->schedule(command.completion - read_window(command), {.type = Sm::EventType::kWgmmaReads, .value = id});
  sm_->schedule(command.completion, {.type = Sm::EventType::kWgmmaComplete, .value = id});
  sm_->wgmma_room(now);
}

// A command that waited for its own CTA's work in the pipe is as late as the pipe is; behind other launches' work it loses what
// they took.
void WgmmaUnit::charge_start(Command& command, Cycle now) {
  Cycle lost = 0;
  history_.charge(command.assembled, now, command.launch, [&](int culprit, uint64_t cycles) {
    account_->charge_request(command.row, culprit, Contended::kWgmma, cycles);
    if (culprit != command.launch) lost += cycles;
  });
  const bool behind_own = now > command.assembled && lost == 0 && pipe_cta_ == command.cta && pipe_serial_ == command.cta_serial;
  command.lost = behind_own ? pipe_lost_ : command.lost + lost;
  pipe_lost_ = command.lost;
  pipe_launch_ = command.launch;
  pipe_cta_ = command.cta;
  pipe_serial_ = command.cta_serial;
}

void WgmmaUnit::begin_writes(uint64_t id, Cycle now) {
  Command& command = at(id);
  const Cycle due = command.completion - command.columns / 2U;
  if (now < due) {  // an earlier command was delayed meanwhile
    sm_->schedule(due, {.type = Sm::EventType::kWgmmaWrites, .value = id});
    return;
  }
  command.writes_begun = true;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    command.update[c].writes = sm_->sub_core(c).ports().demand(now, 0, command.columns / 4U).writes;
  }
}

void WgmmaUnit::begin_reads(uint64_t id, Cycle now) {
  Command& command = at(id);
  const Cycle due = command.completion - read_window(command);
  if (now < due) {
    sm_->schedule(due, {.type = Sm::EventType::kWgmmaReads, .value = id});
    return;
  }
  command.reads_begun = true;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    command.update[c].reads = sm_->sub_core(c).ports().demand(now, spec_.commit_reads, 0).reads;
  }
  command.reads_before = port_reads();
}

void WgmmaUnit::complete(uint64_t id, Cycle now) {
  Command& command = at(id);
  if (now < command.completion) {
    sm_->schedule(command.completion, {.type = Sm::EventType::kWgmmaComplete, .value = id});
    return;
  }
  Cycle reads = 0;
  Cycle writes = 0;
  int written_by = command.launch;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    const auto [missing_reads, missing_writes] = sm_->sub_core(c).ports().missing(now, command.update[c]);
    reads = std::max<Cycle>(reads, missing_reads);
    if (missing_writes > writes) {
      writes = missing_writes;
      written_by = sm_->sub_core(c).last_writer(0);
    }
  }
  const Cycle delay = std::max(reads, writes);
  if (delay > 0) {
    Cycle lost = 0;
    if (reads >= writes) {
      lost = charge_reads(command, delay);
    } else {
      account_->charge_request(command.row, written_by, Contended::kRegisterWritePort, delay);
      lost = written_by != command.launch ? delay : 0;
    }
    delay_after(id, delay, lost);
    sm_->schedule(command.completion, {.type = Sm::EventType::kWgmmaComplete, .value = id});
    return;
  }
  if (command.commit) sm_->wgmma_group_done(command.cta, command.cta_serial, command.warpgroup, command.lost, now);
}

// The pipe stands still while an update waits: this command, those behind it and the next start all move. `lost` of the delay is
// due to other launches.
void WgmmaUnit::delay_after(uint64_t id, Cycle delay, Cycle lost) {
  const int launch = at(id).launch;
  for (uint64_t later = id; later < next_start_; ++later) {
    at(later).completion += delay;
    if (at(later).launch == launch) at(later).lost += lost;
  }
  if (pipe_launch_ == launch) pipe_lost_ += lost;
  free_at_ += delay;
}

std::vector<uint64_t> WgmmaUnit::port_reads() const {
  std::vector<uint64_t> reads(static_cast<size_t>(account_->launches()), 0);
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (size_t l = 0; l < reads.size(); ++l) reads[l] += sm_->sub_core(c).port_reads(static_cast<int>(l));
  }
  return reads;
}

// To the launches that read meanwhile, in proportion; what integer division leaves goes to the one that read most. Returns the part
// of other launches.
Cycle WgmmaUnit::charge_reads(const Command& command, Cycle delay) {
  std::vector<uint64_t> reads = port_reads();
  for (size_t l = 0; l < reads.size(); ++l) reads[l] -= command.reads_before[l];
  const uint64_t total = std::accumulate(reads.begin(), reads.end(), uint64_t{0});
  const auto most = static_cast<int>(std::ranges::max_element(reads) - reads.begin());
  uint64_t left = delay;
  uint64_t own = 0;
  for (size_t l = 0; l < reads.size() && total > 0; ++l) {
    const uint64_t share = delay * reads[l] / total;
    account_->charge_request(command.row, static_cast<int>(l), Contended::kRegisterReadPort, share);
    left -= share;
    if (static_cast<int>(l) == command.launch) own += share;
  }
  const int last = total > 0 ? most : command.launch;
  account_->charge_request(command.row, last, Contended::kRegisterReadPort, left);
  return delay - own - (last == command.launch ? left : 0);
}

}  // namespace warpfold::sim
