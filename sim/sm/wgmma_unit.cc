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

// From the start to the completion.
Cycle WgmmaUnit::latency(const Command& command) const {
  const uint32_t pipeline = command.a_in_registers ? spec_.wgmma_completion_rs : spec_.wgmma_completion;
  return pipeline + std::max(spec_.wgmma_cycles(command.columns), command.columns / 2U);
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
  busy_ += spec_.wgmma_cycles(command.columns);
  free_at_ = now + interval(command);
  sm_->memory().reserve_for_wgmma(now, wavefronts(command), command.launch);
  command.completion = now + latency(command);
  // Writes stretch over the last N/2 cycles: one register a cycle, an even and an odd one every second.
  sm_->schedule(command.completion - command.columns / 2U, {.type = Sm::EventType::kWgmmaWrites, .value = id});
  sm_->schedule(command.completion - read_window(command), {.type = Sm::EventType::kWgmmaReads, .value = id});
  sm_->schedule(command.completion, {.type = Sm::EventType::kWgmmaComplete, .value = id});
  sm_->wgmma_room(now);
}

// A command that waited for its own CTA's work in the pipe is as late as the later of the two would be undisturbed; behind other
// launches' work it loses what they took. The rest of its wait is the kernel's own.
void WgmmaUnit::charge_start(Command& command, Cycle now) {
  Cycle lost = 0;
  history_.charge(command.assembled, now, command.launch, [&](int culprit, uint64_t cycles) {
    account_->charge_request(command.row, culprit, Contended::kWgmma, cycles);
    if (culprit != command.launch) lost += cycles;
  });
  const uint64_t waited = now - command.assembled;
  Delay late = command.delay;
  sm_->hold_up(late, command.launch, command.cta, command.cta_serial, {lost, waited});
  const bool behind_own = lost == 0 && pipe_cta_ == command.cta && pipe_serial_ == command.cta_serial;
  if (behind_own && sm_->remembered(pipe_, now))
    late.others = std::min(late.others + waited, sm_->joined(pipe_, command.cta, now).others);
  command.delay = late;
  pipe_ = {now + interval(command), late};
  if (sm_->cta_lives(command.cta, command.cta_serial)) {
    Arrival& before = sm_->warpgroup(command.cta, command.warpgroup).started;
    if (sm_->remembered(before, now)) command.delay.all = std::min(late.all, sm_->joined(before, command.cta, now).all);
    before = {pipe_.at, command.delay};
  }
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
    sm_->sub_core(c).begin_commits(now, command.columns / 2U);
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
      written_by = sm_->sub_core(c).last_writer(0, command.launch);
    }
  }
  const Cycle delay = std::max(reads, writes);
  if (delay > 0) {
    if (reads >= writes) {
      delay_after(id, delay, charge_reads(command, delay));
    } else {
      account_->charge_request(command.row, written_by, Contended::kRegisterWritePort, delay);
      delay_after(id, delay, written_by != command.launch ? delay : 0);
    }
    sm_->schedule(command.completion, {.type = Sm::EventType::kWgmmaComplete, .value = id});
    return;
  }
  if (command.commit) sm_->wgmma_group_done(command, now);
}

// The pipe stands still while an update waits: this command, those behind it and the next start all move. `lost` of the delay is
// due to other launches, for which all of it is due to this one; the rest is the launch's own.
void WgmmaUnit::delay_after(uint64_t id, Cycle delay, Cycle lost) {
  const int launch = at(id).launch;
  for (uint64_t later = id; later < next_start_; ++later) {
    Command& command = at(later);
    const Cycle others = command.launch == launch ? lost : delay;
    command.completion += delay;
    sm_->hold_up(command.delay, command.launch, command.cta, command.cta_serial, {others, delay});
  }
  free_at_ += delay;
  pipe_.at += delay;
  sm_->hold_up(pipe_.delay, pipe_launch_, pipe_cta_, pipe_serial_, {pipe_launch_ == launch ? lost : delay, 0});
}

std::vector<uint64_t> WgmmaUnit::port_reads() const {
  std::vector<uint64_t> reads;
  reads.reserve(static_cast<size_t>(sm_->sub_cores()) * static_cast<size_t>(account_->launches()));
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    for (int l = 0; l < account_->launches(); ++l) reads.push_back(sm_->sub_core(c).port_reads(l));
  }
  return reads;
}

// What the update would have waited with its own launch's reads alone is its own; the rest is due to the other launches that read
// meanwhile, in proportion, and what integer division leaves to the one that read most:
//
//   12 cycles with 24 slots, of which its own launch's reads take 18 and another's 4: 2 of the 6 wanted are left, 4 are missing, 2
//   cycles. Without the other's reads none would be: both cycles are the other's.
//
// Returns the part of other launches.
Cycle WgmmaUnit::charge_reads(const Command& command, Cycle delay) {
  const auto launches = static_cast<size_t>(account_->launches());
  std::vector<uint64_t> reads = port_reads();
  std::vector<uint64_t> of_launch(launches, 0);
  Cycle own = 0;
  for (int c = 0; c < sm_->sub_cores(); ++c) {
    uint64_t others = 0;
    for (size_t l = 0; l < launches; ++l) {
      if (static_cast<int>(l) == command.launch) continue;
      const size_t i = static_cast<size_t>(c) * launches + l;
      others += reads[i] - command.reads_before[i];
      of_launch[l] += reads[i] - command.reads_before[i];
    }
    own = std::max<Cycle>(own, sm_->sub_core(c).ports().missing_without(command.update[c], others));
  }
  account_->charge_request(command.row, command.launch, Contended::kRegisterReadPort, own);
  const uint64_t total = std::accumulate(of_launch.begin(), of_launch.end(), uint64_t{0});
  if (own == delay) return 0;
  const auto most = static_cast<size_t>(std::ranges::max_element(of_launch) - of_launch.begin());
  uint64_t left = delay - own;
  for (size_t l = 0; l < launches; ++l) {
    if (l == most) continue;
    const uint64_t share = (delay - own) * of_launch[l] / total;
    account_->charge_request(command.row, static_cast<int>(l), Contended::kRegisterReadPort, share);
    left -= share;
  }
  account_->charge_request(command.row, static_cast<int>(most), Contended::kRegisterReadPort, left);
  return delay - own;
}

}  // namespace warpfold::sim
