// What reaches a sub-core from other parts of the SM: conditions that come to hold, free places, accumulators on their way back.
#include <bit>

#include "sim/sm/sm.h"
#include "sim/sm/sub_core.h"

namespace warpfold::sim {

using isa::Pipe;

void SubCore::reconsider(int slot, Cycle now, std::optional<Delay> delay) {
  Warp& warp = warps_[slot];
  if (!warp.blocked) return;
  WarpState reason{};
  const bool holds = condition_holds(slot, now, reason);
  if (!holds && reason == warp.reason) return;
  // What another sub-core's issue changes in this cycle is seen in the next by one that has had its turn.
  if (stepped_ == now) ++now;
  account_->spend(warp.waiting_row, warp.reason, now - warp.since);
  if (warp.reason == WarpState::kMathPipeThrottle) {
    sm_->charge_wgmma_wait(warp, now);
  } else if (delay) {
    sm_->inherit(warp, *delay, now - warp.since);
  }
  if (!holds) return wait(warp, reason, now);
  warp.blocked = false;
  warp.since = now;
  awake_ |= Mask{1} << slot;
  wake_at(now);
}

void SubCore::release_counter(int slot, int counter, Delay delay, Cycle now) {
  Warp& warp = warps_[slot];
  --warp.counters[counter];
  if (warp.counters[counter] == 0) warp.long_counters = static_cast<uint8_t>(warp.long_counters & ~(1U << counter));
  reconsider(slot, now, delay);
}

void SubCore::free_queue_entry(Cycle now) {
  if (queue_entries_-- == spec_.memory_queue_entries) {
    busy_ports_ &= ~(1U << static_cast<int>(Pipe::kMemory) | 1U << kGlobalMemory);
    wake_at(now);
  }
}

void SubCore::wgmma_room(Cycle now) {
  for (Mask waiting = wants_[static_cast<int>(Pipe::kWgmma)] & ~awake_; waiting != 0; waiting &= waiting - 1) {
    const int slot = std::countr_zero(waiting);
    if (warps_[slot].blocked && warps_[slot].reason == WarpState::kMathPipeThrottle) reconsider(slot, now);
  }
}

// What waits in front of the pipe, up to the last instruction with a result, had been counted without the pairs that now come.
void SubCore::begin_commits(Cycle now, Cycle cycles) {
  ports_.begin_commits(now, cycles);
  if (alu_until_[0] <= now) return;
  const auto queued = static_cast<uint32_t>(alu_until_[0] - now);
  const Cycle more = ports_.held(now, queued) - queued;
  pipes_[static_cast<int>(Pipe::kAlu)].hold_up(more);
  alu_until_[0] += more;
}

}  // namespace warpfold::sim
