// Events that reach a sub-core from other units of the SM: conditions that come true, free queue entries, accumulator
// updates.
#include <bit>

#include "sim/sm/barrier_unit.h"
#include "sim/sm/cta_slots.h"
#include "sim/sm/listener.h"
#include "sim/sm/sm.h"
#include "sim/sm/sub_core.h"

namespace warpfold::sim {

using isa::Pipe;

Warp* SubCore::live_warp(const SubCoreEvent& event) {
  Warp& warp = warps_[event.slot];
  return warp.resident && warp.serial == event.serial ? &warp : nullptr;
}

void SubCore::handle(Sm& sm, const SubCoreEvent& event, Cycle now) {
  using enum SubCoreEvent::Kind;
  if (event.kind == kQueueEntry) return free_queue_entry(sm, now);
  Warp* warp = live_warp(event);
  if (warp == nullptr) return;
  switch (event.kind) {
    case kCounter:
      return release_counter(sm, event.slot, event.counter, event.delay, now);
    case kLoadResult:
      return load_result(sm, *warp, event, now);
    case kAsyncCopied:
      return async_copied(sm, *warp, event, now);
    case kBulkStored:
      --warp->outstanding_bulk_stores;
      reconsider(sm, event.slot, now, event.delay);
      return maybe_end_warp(sm, index_, event.slot, event.delay, now);
    case kStored:
      // An arrival at the grid's barrier may wait for the CTA's stores.
      if (--warp->outstanding_stores == 0 && sm.state().launches[warp->launch].image->meets_in_grid)
        reconsider_cta(sm, warp->cta, event.delay, now);
      return maybe_end_warp(sm, index_, event.slot, event.delay, now);
    case kQueueEntry:
      return;
  }
}

// A fixed-latency result goes first at the same write port: the load waits for one cycle.
void SubCore::load_result(Sm& sm, const Warp& warp, const SubCoreEvent& event, Cycle now) {
  const std::array<uint8_t, 2> registers = {static_cast<uint8_t>(event.value), static_cast<uint8_t>(event.value >> 8)};
  if (!ports_.write_port_busy(now, registers)) return release_counter(sm, event.slot, event.counter, event.delay, now);
  const int bank = ports_.write_port_busy(now, {registers[0], 0}) ? 0 : 1;
  SubCoreEvent later = event;
  tell(sm, ResultWaited{warp, last_writer(bank, warp.launch), later.delay});
  later.kind = SubCoreEvent::Kind::kCounter;
  sm.schedule(now + 1, later);
}

void SubCore::async_copied(Sm& sm, Warp& warp, const SubCoreEvent& event, Cycle now) {
  AsyncGroups& groups = warp.async;
  if (event.value == groups.committed) {
    --groups.open_copies;
    return;
  }
  --groups.copies_left[event.value % groups.copies_left.size()];
  while (groups.completed < groups.committed && groups.copies_left[groups.completed % groups.copies_left.size()] == 0)
    ++groups.completed;
  reconsider(sm, event.slot, now, event.delay);
}

void SubCore::reconsider(Sm& sm, int slot, Cycle now, std::optional<Delay> delay) {
  Warp& warp = warps_[slot];
  if (!warp.blocked) return;
  WarpState reason{};
  const bool holds = may_issue(sm, slot, now, reason);
  if (!holds && reason == warp.reason) return;
  // A sub-core that has run this cycle already sees the change in the next one.
  if (stepped_ == now) ++now;
  tell(sm, WaitEnded{*this, warp, slot, now, delay});
  if (!holds) return wait(warp, reason, now);
  warp.blocked = false;
  warp.since = now;
  awake_ |= Mask{1} << slot;
  wake_at(sm, now);
}

void SubCore::wake_at(Sm& sm, Cycle cycle) {
  Cycle& due = sm.state().due[index_];
  due = std::min(due, cycle == stepped_ ? cycle + 1 : cycle);
}

void SubCore::release_counter(Sm& sm, int slot, int counter, Delay delay, Cycle now) {
  Warp& warp = warps_[slot];
  --warp.counters[counter];
  if (warp.counters[counter] == 0) warp.long_counters = static_cast<uint8_t>(warp.long_counters & ~(1U << counter));
  reconsider(sm, slot, now, delay);
}

void SubCore::free_queue_entry(Sm& sm, Cycle now) {
  if (queue_entries_-- == sm.spec().memory_queue_entries) {
    busy_ports_ &= ~(1U << static_cast<int>(Pipe::kMemory) | 1U << kGlobalMemory);
    wake_at(sm, now);
  }
}

void SubCore::tensor_room(Sm& sm, Pipe pipe, Delay delay, Cycle now) {
  for (Mask waiting = wants_[static_cast<int>(pipe)] & ~awake_; waiting != 0; waiting &= waiting - 1) {
    const int slot = std::countr_zero(waiting);
    if (warps_[slot].blocked && warps_[slot].reason == WarpState::kMathPipeThrottle) reconsider(sm, slot, now, delay);
  }
}

// Instructions wait in front of these pipes, timed without the pairs that are now written back. The last of them with a
// result now leaves the latch later.
void SubCore::begin_write_back(Cycle now, Cycle cycles, int launch) {
  ports_.begin_write_back(now, cycles);
  write_back_launch_ = launch;
  for (const Pipe pipe : kPipesBehindPairs) {
    Cycle& until = results_until_[static_cast<size_t>(pipe)];
    if (until <= now) continue;
    const uint32_t more = ports_.result_wait(now, static_cast<uint32_t>(until - now));
    pipes_[static_cast<size_t>(pipe)].hold_up(more);
    until += more;
  }
}

}  // namespace warpfold::sim
