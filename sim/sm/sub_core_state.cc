#include <bit>
#include <span>

#include "sim/sm/sm.h"

namespace warpfold::sim {
namespace {

uint64_t place(const Warp& warp) { return static_cast<uint64_t>(warp.launch) << 32 | warp.op->place; }

}  // namespace

void SubCore::visit(Sm& sm, StateVisitor& visitor) {
  // The binding lists all fields: a new field does not compile until it is added here, and either visited below or
  // named in this comment. Not visited:
  //
  //   coupled, wants, of_launch, active_launches   follow from the resident warps
  //   busy_ports                                   follows from the ports' times and the memory queue's entries
  //   stalls, unsettled                            are settled
  //   dispatch_port                                is chosen anew in every cycle
  //   plain, index                                 are constant
  [[maybe_unused]] auto& [ports, warps, resident, awake, check, tentative, timers, wants, of_launch, active_launches, pipes,
                          busy_ports, results_until, commit_launch, wide_writer, queue_entries, dispatch_ports, dispatch_port,
                          slot_free, slot_holder, last_writer, port_reads, account, arbiter, stepped, plain, index] = *this;
  [[maybe_unused]] auto& [coupled, stalls, issued, unsettled, pipe_cycles] = account_;
  visitor.values("resident", resident_, "awake", awake_);
  for (int slot = 0; slot < slots(); ++slot) {
    if (warps_[slot].resident) visit_warp(slot, visitor);
  }
  // Blocked warps may be tentative too: expire_timers looks at them after they wake up.
  visitor.values("check", has_condition_, "tentative", tentative_);
  timers_.visit(visitor);
  for (int port = 0; port < kPorts; ++port) {
    if (port < isa::kPipes) pipes_[port].visit(visitor, sm.spec().admission[port]);
  }
  for (const isa::Pipe pipe : kPipesBehindPairs) visitor.time("results_until", results_until_[static_cast<size_t>(pipe)]);
  visitor.values("commit_launch", ports_.writes_back(visitor.now()) ? write_back_launch_ : 0, "wide_writer", wide_writer_);
  visitor.value("queue_entries", queue_entries_);
  for (uint32_t w = 0; w < sm.spec().issue_width; ++w) {
    DispatchPort& port = dispatch_ports_[w];
    [[maybe_unused]] const auto& [control_free, allocated, allocate_holder, control_holder] = port;
    visitor.values("dispatch_culprit", port.control_free > visitor.now() ? port.control_holder : 0, "allocate_holder",
                   port.allocated > visitor.now() ? port.allocate_holder : 0);
    visitor.time("control_free", port.control_free);
    visitor.time("allocated", port.allocated);
  }
  if (sm.spec().issue_interval > 1) {
    visitor.value("slot_holder", slot_free_ > visitor.now() ? static_cast<uint64_t>(slot_holder_) : 0);
    visitor.time("slot_free", slot_free_);
  } else {
    slot_free_ = visitor.moved(slot_free_);  // always past
  }
  ports_.visit(visitor);
  visitor.values("last_writer_even", last_writer_[0], "last_writer_odd", last_writer_[1]);
  arbiter_.visit(visitor, resident_);
  visitor.time("next_step", sm.state().due[index_]);
  stepped_ = visitor.moved(stepped_);
  visitor.counts(port_reads_);
  visitor.counts(pipe_cycles);
  visitor.counts(issued);
}

// Trips left of loops are not in the key: they only count down, until the last trip.
void SubCore::visit_warp(int slot, StateVisitor& visitor) {
  Warp& warp = warps_[slot];
  // The binding lists all fields. sm_state.cc visits delay, barrier_phase, wgmma_sequence and cursors, beside the CTA.
  // Not visited:
  //
  //   counted              is op once settled
  //   launch               is the CTA's
  //   row, program         follow from op
  //   ordinal, barrier_op   are used by reports only
  [[maybe_unused]] const auto& [op, counted, last_issue, since, delay, launch, row, cta, long_counters, fresh_counters, blocked,
                                in_barrier, counters, reason, resident, exited, barrier, index_in_cta, program, trips_left, serial,
                                ordinal, started, waiting_row, registers, barrier_op, barrier_phase, outstanding_stores,
                                outstanding_bulk_stores, wgmma_sequence, wgmma_groups, async, cursors] = warp;
  [[maybe_unused]] const auto& [open_copies, committed, completed, copies_left] = async;
  visitor.value("warp_op", place(warp));
  visitor.values("warp_cta", warp.cta, "warp_index", warp.index_in_cta);
  uint8_t counting = 0;
  for (int c = 0; c < 6; ++c) counting = static_cast<uint8_t>(counting | (warp.counters[c] != 0 ? 1U : 0U) << c);
  const bool just_issued = warp.last_issue + 1 == visitor.now();
  visitor.values("just_issued", just_issued, "fresh_counters", just_issued ? warp.fresh_counters : uint8_t{0}, "long_counters",
                 warp.long_counters, "counting", counting, "blocked", warp.blocked, "blocked_reason",
                 warp.blocked ? warp.reason : WarpState{}, "in_barrier", warp.in_barrier, "exited", warp.exited);
  for (uint32_t left = counting; left != 0; left &= left - 1)
    visitor.value("dependence_counters", warp.counters[std::countr_zero(left)]);
  if (warp.blocked || ((awake_ & account_.coupled) >> slot & 1) != 0) {
    visitor.since(warp.serial, 0, warp.since);
  } else {
    warp.since = visitor.moved(warp.since);
  }
  if (warp.in_barrier) visitor.values("barrier", warp.barrier, "barrier_row", warp.waiting_row);
  visitor.values("outstanding_stores", warp.outstanding_stores, "outstanding_bulk_stores", warp.outstanding_bulk_stores);
  visitor.values("warp_registers", warp.registers, "wgmma_groups", warp.wgmma_groups);
  // copies_left has an entry for each group that may be outstanding.
  visitor.values("async_open", warp.async.open_copies, "async_groups",
                 static_cast<uint32_t>(warp.async.committed - warp.async.completed));
  for (uint64_t group = warp.async.completed; group < warp.async.committed; ++group)
    visitor.value("async_copies", warp.async.copies_left[group % warp.async.copies_left.size()]);
  visitor.since(warp.serial, 1, warp.started);
  if (warp.exited) {
    visitor.since(warp.serial, 2, warp.last_issue);
  } else {
    warp.last_issue = visitor.moved(warp.last_issue);
  }
  visitor.trips(warp.serial, warp.launch, std::span(warp.trips_left).first(warp.op->depth));
}

EventKey SubCore::key_of(const Sm& sm, const SubCoreEvent& event) {
  [[maybe_unused]] const auto& [kind, sub_core, slot, counter, serial, value, delay] = event;
  EventKey key{.kind = static_cast<uint8_t>(kind), .sub_core = sub_core, .slot = slot, .counter = counter};
  if (kind == SubCoreEvent::Kind::kQueueEntry) return key;
  const Warp& warp = *live_warp(event);
  key.delay = {warp.launch, warp.cta, sm.state().ctas[warp.cta].serial, delay};
  if (kind == SubCoreEvent::Kind::kAsyncCopied) {
    key.value = warp.async.committed - value;
  } else if (kind == SubCoreEvent::Kind::kLoadResult || kind == SubCoreEvent::Kind::kCounter) {
    key.value = value;
  }
  return key;
}

uint64_t SubCore::fingerprint() const {
  uint64_t print = uint64_t{awake_} << 32 ^ queue_entries_;
  for (Mask left = resident_; left != 0; left &= left - 1) {
    print = (std::rotl(print, 7) ^ place(warps_[std::countr_zero(left)])) * 0x9e3779b97f4a7c15ULL;
  }
  return print;
}

}  // namespace warpfold::sim
