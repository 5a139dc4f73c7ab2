#include <bit>

#include "sim/sm/sub_core.h"

namespace warpfold::sim {
namespace {

uint64_t place(const Warp& warp) { return static_cast<uint64_t>(warp.launch) << 32 | warp.op->place; }

}  // namespace

void SubCore::visit(StateVisitor& visitor) {
  for (int slot = 0; slot < slots(); ++slot) {
    if (warps_[slot].resident) visit_warp(slot, visitor);
  }
  visitor.value("resident", resident_);
  visitor.value("awake", awake_);
  visitor.value("check", check_);
  // Of blocked warps too: they are looked at again when they wake up.
  visitor.value("tentative", tentative_);
  timers_.visit(visitor);
  for (Mask left = resident_; left != 0; left &= left - 1) visitor.value("younger", younger_[std::countr_zero(left)]);
  for (int port = 0; port < kPorts; ++port) {
    if (port < isa::kPipes) pipes_[port].visit(visitor, spec_.admission[port]);
  }
  visitor.time("alu_results", alu_until_[0]);
  visitor.value("queue_entries", queue_entries_);
  for (uint32_t w = 0; w < spec_.issue_width; ++w) {
    Way& way = ways_[w];
    visitor.value("dispatch_culprit", way.control_free > visitor.now() ? static_cast<uint64_t>(way.dispatch_culprit) : 0);
    visitor.time("control_free", way.control_free);
    visitor.value("allocate_holder", way.allocated > visitor.now() ? static_cast<uint64_t>(way.allocate_holder) : 0);
    visitor.time("allocated", way.allocated);
  }
  if (spec_.issue_interval > 1) {
    visitor.value("slot_holder", slot_free_ > visitor.now() ? static_cast<uint64_t>(slot_holder_) : 0);
    visitor.time("slot_free", slot_free_);
  } else {
    slot_free_ = visitor.moved(slot_free_);  // past
  }
  ports_.visit(visitor);
  for (int bank = 0; bank < 2; ++bank) visitor.value("last_writer", static_cast<uint64_t>(last_writer_[bank]));
  visitor.value("last_issued", static_cast<uint64_t>(last_issued_));
  visitor.value("last_turn", static_cast<uint64_t>(last_turn_));
  visitor.time("next_step", next_);
  stepped_ = visitor.moved(stepped_);
  visitor.counts(port_reads_);
  visitor.counts(use_.pipe_cycles);
  visitor.counts(issued_);
}

// The loops' trips are apart: they only count, until the last.
void SubCore::visit_warp(int slot, StateVisitor& visitor) {
  Warp& warp = warps_[slot];
  visitor.value("warp_op", place(warp));
  visitor.value("warp_cta", static_cast<uint64_t>(warp.cta));
  visitor.value("warp_index", static_cast<uint64_t>(warp.index_in_cta));
  for (int c = 0; c < 6; c += 2) visitor.value("dependence_counters", uint64_t{warp.counters[c]} << 32 | warp.counters[c + 1]);
  visitor.value("long_counters", warp.long_counters);
  const bool just_issued = warp.last_issue + 1 == visitor.now();
  visitor.value("just_issued", just_issued);
  visitor.value("fresh_counters", just_issued ? warp.fresh_counters : 0);
  visitor.value("blocked", warp.blocked);
  if (warp.blocked) visitor.value("blocked_reason", static_cast<uint64_t>(warp.reason));
  if (warp.blocked || ((awake_ & tied_) >> slot & 1) != 0) {
    visitor.since(warp.serial, 0, warp.since);
  } else {
    warp.since = visitor.moved(warp.since);
  }
  visitor.value("in_barrier", warp.in_barrier);
  if (warp.in_barrier) {
    visitor.value("barrier", warp.barrier);
    visitor.value("barrier_row", warp.waiting_row);
  }
  visitor.value("outstanding_stores", warp.outstanding_stores);
  visitor.value("outstanding_bulk_stores", warp.outstanding_bulk_stores);
  visitor.value("warp_registers", warp.registers);
  visitor.value("wgmma_groups", warp.wgmma_groups);
  visitor.value("async_open", warp.async.open_copies);
  visitor.relative("async_groups", warp.async.committed - warp.async.completed);
  for (uint64_t group = warp.async.completed; group < warp.async.committed; ++group)
    visitor.value("async_copies", warp.async.copies_left[group % warp.async.copies_left.size()]);
  visitor.since(warp.serial, 1, warp.started);
  visitor.value("exited", warp.exited);
  if (warp.exited) {
    visitor.since(warp.serial, 2, warp.last_issue);
  } else {
    warp.last_issue = visitor.moved(warp.last_issue);
  }
  visitor.trips(warp.serial, warp.launch, warp.trips_left.data(), warp.op->depth);
}

uint64_t SubCore::fingerprint() const {
  uint64_t print = uint64_t{awake_} << 32 ^ queue_entries_;
  for (Mask left = resident_; left != 0; left &= left - 1) {
    print = (std::rotl(print, 7) ^ place(warps_[std::countr_zero(left)])) * 0x9e3779b97f4a7c15ULL;
  }
  return print;
}

}  // namespace warpfold::sim
