#include "sim/sm/sub_core.h"

#include <algorithm>
#include <bit>

#include "sim/sm/listener_sub_core.h"
#include "sim/sm/sm.h"
#include "sim/sm/sm_issue.h"

namespace warpfold::sim {
namespace {

using isa::Behaviour;
using isa::Pipe;

// Pipes that are busy in most cycles. A check of all of them costs less than a branch on the busy ones.
constexpr uint32_t port_bit(Pipe pipe) { return 1U << static_cast<int>(pipe); }
constexpr uint32_t kOftenTaken = port_bit(Pipe::kAlu) | port_bit(Pipe::kFmaHeavy) | port_bit(Pipe::kFmaLite);

// Instructions whose completion decrements dependence counters.
bool releases_counters(const MicroOp& op) { return op.pipe == Pipe::kMemory || op.behaviour == Behaviour::kVariableMath; }

}  // namespace

SubCore::SubCore(const Spec& spec, size_t launches, int index)
    : ports_(spec),
      warps_(spec.warp_slots_per_sub_core),
      of_launch_(launches, 0),
      port_reads_(launches, 0),
      account_(launches),
      plain_(spec.issue_width == 1 && spec.issue_interval == 1),
      index_(index) {
  pipes_[static_cast<int>(Pipe::kMemory)].close();
  pipes_[kGlobalMemory].close();
}

void SubCore::step(Sm& sm, std::span<SubCore> sub_cores, Cycle now) {
  const std::array<Cycle, kMostSubCores>& due = sm.state().due;
  for (size_t i = 0; i < sub_cores.size(); ++i) {
    if (due[i] <= now) sub_cores[i].step(sm, now);
  }
}

// One function in the machine code: its parts are short, and calls of them were a sixth of the replay's instructions.
// Parts that few instructions reach stay outside (noinline), because inlined they take registers from the common path.
// The loop over sub-cores stays outside too: in this function its variables cost 2 % of the replay.
[[gnu::flatten, gnu::noinline]] void SubCore::step(Sm& sm, Cycle now) {
  stepped_ = now;
  expire_timers(sm, now);
  Mask candidates = awake_;
  if (candidates != 0) candidates = pass_pipe_latches(sm, candidates, now);
  if (candidates != 0) candidates = pass_control_stage(sm, candidates, now);
  for (uint32_t issued = 0; candidates != 0;) {
    const int winner = pick(sm, candidates, now);
    const MicroOp& op = *warps_[winner].op;
    candidates &= ~(Mask{1} << winner);
    WarpState reason{};
    if (op.may_be_taken && !may_execute(sm, warps_[winner], reason)) {
      block(sm, winner, reason, now);
      continue;
    }
    issue(sm, winner, now);
    if (candidates == 0) break;
    if (plain_ || ++issued == sm.spec().issue_width) {
      leave_behind(sm, candidates, warps_[winner].launch, op, now);
      break;
    }
    candidates = candidates_for_next_issue(sm, candidates, now);
  }
  sm.state().due[index_] = awake_ != 0 ? now + 1 : timers_.next(now);
}

// ---- timers and conditions

void SubCore::expire_timers(Sm& sm, Cycle now) {
  Mask late = tentative_ & awake_;
  for (; late != 0; late &= late - 1) {
    const int w = std::countr_zero(late);
    if (warps_[w].last_issue + 1 >= now) continue;
    tentative_ &= ~(Mask{1} << w);
    WarpState reason{};
    if (!may_issue(sm, w, now, reason)) block(sm, w, reason, now);
  }
  const Mask expired = timers_.expire(now);
  awake_ |= expired;
  for (Mask checked = expired & has_condition_; checked != 0; checked &= checked - 1) {
    const int w = std::countr_zero(checked);
    WarpState reason{};
    if (!may_issue(sm, w, now, reason)) block(sm, w, reason, now);
  }
}

[[gnu::noinline]] bool SubCore::may_issue(Sm& sm, int slot, Cycle now, WarpState& reason) {
  Warp& warp = warps_[slot];
  if (warp.in_barrier) {
    reason = WarpState::kBarrier;
    return false;
  }
  const MicroOp& op = *warp.op;
  // The increment of the last issue is not visible in the cycle after it.
  const bool fresh = warp.fresh_counters != 0 && now == warp.last_issue + 1;
  for (uint32_t mask = op.wait_mask; mask != 0; mask &= mask - 1) {
    const int c = std::countr_zero(mask);
    const bool hidden = fresh && (warp.fresh_counters >> c & 1) != 0;
    if (warp.counters[c] > (hidden ? 1U : 0U)) {
      reason = warp.long_counters & op.wait_mask ? WarpState::kLongScoreboard : WarpState::kShortScoreboard;
      return false;
    }
    if (hidden) tentative_ |= Mask{1} << slot;
  }
  return may_execute(sm, warp, reason);
}

[[gnu::noinline]] void SubCore::block(Sm& sm, int slot, WarpState reason, Cycle since) {
  tell(sm, AwakeEnded{*this, warps_[slot], slot, since});
  warps_[slot].blocked = true;
  wait(warps_[slot], reason, since);
  awake_ &= ~(Mask{1} << slot);
}

void SubCore::wait(Warp& warp, WarpState reason, Cycle since) {
  warp.reason = reason;
  warp.since = since;
  if (!warp.in_barrier) warp.waiting_row = warp.row;
}

void SubCore::set_timer(Warp& warp, int slot, Cycle at, bool check) {
  const Mask bit = Mask{1} << slot;
  warp.since = at;
  awake_ &= ~bit;
  has_condition_ = (has_condition_ & ~bit) | Mask{check} << slot;
  timers_.set(slot, at);
}

// ---- pipe latches and control stage

SubCore::Mask SubCore::pass_pipe_latches(Sm& sm, Mask candidates, Cycle now) {
  const auto losing_to = [&](Pipe pipe) {
    const auto port = static_cast<int>(pipe);
    return candidates & wants_[port] & (0U - static_cast<Mask>(pipes_[port].admits_at() > now));
  };
  const Mask alu = losing_to(Pipe::kAlu);
  const Mask heavy = losing_to(Pipe::kFmaHeavy);
  const Mask lite = losing_to(Pipe::kFmaLite);
  if ((alu | heavy | lite) != 0) {
    candidates &= ~(alu | heavy | lite);
    if (alu != 0) stall_on_pipe(sm, alu, Pipe::kAlu, now);
    if (heavy != 0) stall_on_pipe(sm, heavy, Pipe::kFmaHeavy, now);
    if (lite != 0) stall_on_pipe(sm, lite, Pipe::kFmaLite, now);
  }
  for (uint32_t busy = busy_ports_; busy != 0; busy &= busy - 1) {
    const int port = std::countr_zero(busy);
    // The ports of the memory queue never open by time; free_queue_entry removes them from busy_ports_.
    const uint32_t open = pipes_[port].admits_at() <= now ? 1 : 0;
    busy_ports_ &= ~(open << port);
    const Mask held = candidates & wants_[port] & (open - 1U);
    if (held == 0) continue;
    candidates &= ~held;
    if (port == static_cast<int>(Pipe::kMemory) || port == kGlobalMemory) {
      const auto reason = port == kGlobalMemory ? WarpState::kLgThrottle : WarpState::kMioThrottle;
      tell(sm, Stalled{*this, held, reason, sm.memory().queue_holder(index_), Contended::kMemoryQueue});
    } else {
      stall_on_pipe(sm, held, static_cast<Pipe>(port), now);
    }
  }
  return candidates;
}

// True if accumulators keep the pipe's latch taken in this cycle.
bool SubCore::held_by_write_back(Pipe pipe, Cycle now) const {
  if (!ports_.writes_back(now)) return false;
  if (pipe == Pipe::kFmaHeavy && ports_.wide_waits(now)) return true;
  return ports_.is_of_pair(now) && std::ranges::find(kPipesBehindPairs, pipe) != kPipesBehindPairs.end() &&
         results_until_[static_cast<size_t>(pipe)] > now;
}

void SubCore::stall_on_pipe(Sm& sm, Mask warps, Pipe pipe, Cycle now) {
  const auto port = static_cast<int>(pipe);
  if (held_by_write_back(pipe, now))
    return tell(sm, Stalled{*this, warps, WarpState::kDispatchStall, write_back_launch_, Contended::kRegisterWritePort});
  tell(sm, Stalled{*this, warps, WarpState::kMathPipeThrottle, pipes_[port].holder(), kContendedPipe[port]});
}

// Returns all candidates if the issue slot and a control stage are free, otherwise none.
SubCore::Mask SubCore::pass_control_stage(Sm& sm, Mask candidates, Cycle now) {
  if (plain_) {
    if (dispatch_ports_[0].control_free <= now) return candidates;
    const int holder = dispatch_ports_[0].control_holder;
    tell(sm, Stalled{*this, candidates, WarpState::kDispatchStall, holder, Contended::kRegisterReadPort});
    return 0;
  }
  if (slot_free_ > now) {
    tell(sm, Stalled{*this, candidates, WarpState::kNotSelected, slot_holder_, Contended::kIssueSlot});
    return 0;
  }
  dispatch_port_ = 0;
  while (dispatch_port_ + 1 < sm.spec().issue_width && dispatch_ports_[dispatch_port_].control_free > now) ++dispatch_port_;
  if (dispatch_ports_[dispatch_port_].control_free <= now) return candidates;
  const int holder = dispatch_ports_[dispatch_port_].control_holder;
  tell(sm, Stalled{*this, candidates, WarpState::kDispatchStall, holder, Contended::kRegisterReadPort});
  return 0;
}

// Returns the candidates for a second issue in the same cycle, which may find taken what the first issue used.
[[gnu::noinline]] SubCore::Mask SubCore::candidates_for_next_issue(Sm& sm, Mask candidates, Cycle now) {
  candidates = pass_pipe_latches(sm, candidates, now);
  return candidates != 0 ? pass_control_stage(sm, candidates, now) : 0;
}

// Returns the candidates of the kernels of highest priority.
SubCore::Mask SubCore::most_urgent(const Sm& sm, Mask candidates) const {
  Mask best = 0;
  int priority = 0;
  for (const int launch : active_launches_) {
    const Mask own = candidates & of_launch_[launch];
    const int its = sm.state().launches[launch].priority;
    if (own == 0 || (best != 0 && its < priority)) continue;
    best = best != 0 && its == priority ? best | own : own;
    priority = its;
  }
  return best;
}

int SubCore::pick(const Sm& sm, Mask candidates, Cycle now) const {
  const bool stays = warps_[arbiter_.last()].last_issue + sm.spec().issue_interval >= now;
  return arbiter_.pick(sm.spec().issue_policy, candidates, stays, [&](Mask of_all) { return most_urgent(sm, of_all); });
}

// A loser that needs the pipe which the winner has closed would not have issued with a second issue slot either: it
// lacks the pipe. The other losers lack the issue slot.
void SubCore::leave_behind(Sm& sm, Mask losers, int winner, const MicroOp& op, Cycle now) {
  const auto port = static_cast<int>(op.pipe);
  const Mask closed = static_cast<Mask>(pipes_[port].admits_at() > now) & static_cast<Mask>(op.math);
  tell(sm, NotSelected{*this, losers, losers & wants_[port] & (0U - closed), winner, kContendedPipe[port]});
}

// ---- issue

void SubCore::issue(Sm& sm, int slot, Cycle now) {
  Warp& warp = warps_[slot];
  const MicroOp& op = *warp.op;
  tell(sm, Issued{*this, warp, slot, now});
  take_issue_slot(sm, warp, slot, now);
  const uint32_t late = enter_unit(sm, op, warp, now);
  dispatch(sm, op, warp, slot, now);
  if (op.behaviour == Behaviour::kExit) return;
  fetch_next(sm, op, warp, slot, now);
  if (late > 0) tell(sm, HeldBack{*this, warp, slot, write_back_launch_, now + op.next_after, late});
  set_timer(warp, slot, now + op.next_after + late, warp.op->needs_check || warp.in_barrier);
}

void SubCore::take_issue_slot(Sm& sm, Warp& warp, int slot, Cycle now) {
  arbiter_.issued(slot);
  if (!plain_) {
    slot_free_ = now + sm.spec().issue_interval - (sm.spec().issue_width > 1 ? 1 : 0);
    slot_holder_ = warp.launch;
  }
  warp.last_issue = now;
  warp.fresh_counters = 0;
  tentative_ &= ~(Mask{1} << slot);
}

// Enters a math pipe or the memory queue. Returns the cycles by which the warp's next instruction is late.
uint32_t SubCore::enter_unit(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now) {
  if (op.math) {
    const uint32_t late = enter_pipe(sm, op, warp, now);
    if (op.blocks_lite) occupy(sm, static_cast<int>(Pipe::kFmaLite), now, op.interval, warp.launch);
    return late;
  }
  if (op.pipe == Pipe::kMemory && ++queue_entries_ == sm.spec().memory_queue_entries)
    busy_ports_ |= 1U << static_cast<int>(Pipe::kMemory) | 1U << kGlobalMemory;
  return 0;
}

// Fixed-latency instructions pass the control and allocate stages. All others leave the control stage after one cycle, and their
// unit takes over.
void SubCore::dispatch(Sm& sm, const MicroOp& op, Warp& warp, int slot, Cycle now) {
  if (op.allocates) return issue_fixed(op, warp, slot, now);
  Cycle& control_free = dispatch_ports_[dispatch_port_].control_free;
  control_free = std::max(control_free, now + 1);
  if (releases_counters(op)) count_dependences(op, warp);
  execute(sm, warp, op, index_, slot, now);
}

void SubCore::fetch_next(Sm& sm, const MicroOp& op, Warp& warp, int slot, Cycle now) {
  if (op.straight) {
    ++warp.op;
  } else {
    step_to_next(sm, warp, slot, now);
  }
  wants_[op.port] &= ~(Mask{1} << slot);
  wants_[warp.op->port] |= Mask{1} << slot;
}

void SubCore::issue_fixed(const MicroOp& op, const Warp& warp, int slot, Cycle now) {
  ports_.make_room(now, op.write_latency);
  // The instruction is in the control stage from the next cycle on, until the allocate stage is free: that cycle is
  // control_free.
  DispatchPort& port = dispatch_ports_[dispatch_port_];
  const Cycle left_control = later(now + 1, port.allocated);
  port.control_holder = left_control > now + 1 ? port.allocate_holder : warp.launch;
  port.control_free = left_control;
  port.allocate_holder = warp.launch;
  const auto reads = ports_.collect(op, slot);
  port.allocated = ports_.allocate(left_control + 1, reads);
  port_reads_[warp.launch] += reads[0] + reads[1];
  ports_.write(now + op.write_latency, op);
  for (const uint8_t place : op.written) last_writer_[place] = warp.launch;
}

void SubCore::occupy(Sm& sm, int port, Cycle now, uint32_t cycles, int launch) {
  busy_ports_ |= (1U << port) & ~kOftenTaken;
  pipes_[port].occupy(now, cycles, launch, sm.spec().admission[port]);
}

// Returns the cycles by which the warp's next instruction is late.
uint32_t SubCore::enter_pipe(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now) {
  if (ports_.writes_back(now) && op.result_writes > 0) return enter_beside_write_back(sm, op, warp, now);
  const auto port = static_cast<int>(op.pipe);
  occupy(sm, port, now, op.interval, warp.launch);
  if (op.result_writes > 0) results_until_[port] = pipes_[port].enters_at(now);
  return 0;
}

// Takes the pipe while accumulators are written back. A wide result holds its warp and its pipe until it is written, so
// that no instruction waits in front of the pipe meanwhile.
[[gnu::noinline]] uint32_t SubCore::enter_beside_write_back(Sm& sm, const MicroOp& op, const Warp& warp, Cycle now) {
  const auto port = static_cast<int>(op.pipe);
  PipePort& pipe = pipes_[port];
  const Cycle enters = pipe.enters_at(now);
  if (!op.wide_result) {
    occupy(sm, port, now, op.interval + ports_.result_wait(enters, op.result_writes), warp.launch);
    results_until_[port] = pipe.enters_at(now);
    return 0;
  }
  const uint32_t waits = ports_.enter_wide_result(enters, op.interval, sm.spec().pairs_before_wide_result);
  pipe.occupy(now, waits + op.interval, warp.launch, 0);
  wide_writer_ = warp.launch;
  return waits;
}

void SubCore::count_dependences(const MicroOp& op, Warp& warp) {
  for (const uint8_t counter : {op.write_counter, op.read_counter}) {
    if (counter >= 6) continue;
    ++warp.counters[counter];
    warp.fresh_counters = static_cast<uint8_t>(warp.fresh_counters | 1U << counter);
    if (op.global) warp.long_counters = static_cast<uint8_t>(warp.long_counters | 1U << counter);
  }
}

// Moves the warp to its next instruction, which may begin a loop's next trip or belong to another segment.
[[gnu::noinline]] void SubCore::step_to_next(Sm& sm, Warp& warp, int slot, Cycle now) {
  const MicroOp& op = *warp.op;
  step_program(sm, warp);
  tell(sm, Advanced{*this, warp, slot, op, now});
}

void SubCore::step_program(Sm& sm, Warp& warp) {
  if (!warp.op->edge) {
    ++warp.op;
    return;
  }
  if (warp.op->cursor >= 0 && warp.op->allocates) warp.cursors[warp.op->cursor] += warp.op->advance;
  const Program& program = *warp.program;
  const auto at = static_cast<uint32_t>(warp.op - program.ops.data());
  for (const uint32_t l : program.ends_at[at]) {
    const LoopSpan& loop = program.loops[l];
    if (--warp.trips_left[loop.depth] > 0) {
      warp.op = &program.ops[loop.begin];
      sm.state().loop_end = true;
      if (loop.trips.parameter >= 0 && warp.trips_left[loop.depth] == 1) sm.control().may_diverge = true;
      enter_loops(sm, warp, loop.begin, loop.depth);
      return;
    }
  }
  ++warp.op;
  enter_loops(sm, warp, at + 1, -1);
}

void SubCore::enter_loops(Sm& sm, Warp& warp, uint32_t at, int deeper_than) {
  for (const uint32_t l : warp.program->begins_at[at]) {
    const LoopSpan& loop = warp.program->loops[l];
    if (loop.depth <= deeper_than) continue;
    warp.trips_left[loop.depth] = sm.state().trips(warp, loop.trips);
    if (warp.trips_left[loop.depth] > 0) continue;
    // A loop of no trips is skipped. The code behind it in the same body is next, and may begin with another loop.
    warp.op = &warp.program->ops[loop.end + 1];
    enter_loops(sm, warp, loop.end + 1, loop.depth - 1);
    return;
  }
}

}  // namespace warpfold::sim
