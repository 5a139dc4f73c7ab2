#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// The cycles in which the warps of a sub-core may issue next: one mask of warp slots for each of the coming 64 cycles.
// The longest stall count is shorter than that. Bit t of `occupied_` is set if a warp is due in a cycle equal to t
// modulo 64.
class TimerWheel {
 public:
  void set(int warp_slot, Cycle at) {
    const auto t = static_cast<int>(at % kCycles);
    due_[t] |= uint32_t{1} << warp_slot;
    occupied_ |= uint64_t{1} << t;
  }

  // Returns the warps that are due at `now`, and removes them.
  uint32_t expire(Cycle now) {
    const auto t = static_cast<int>(now % kCycles);
    occupied_ &= ~(uint64_t{1} << t);
    return std::exchange(due_[t], 0);
  }

  // Returns the next cycle after `now` in which a warp is due; kNever: none is.
  Cycle next(Cycle now) const {
    if (occupied_ == 0) return kNever;
    const uint64_t ahead = std::rotr(occupied_, static_cast<int>((now + 1) % kCycles));
    return now + 1 + static_cast<Cycle>(std::countr_zero(ahead));
  }

  void visit(StateVisitor& visitor) {
    // The binding lists all fields.
    [[maybe_unused]] const auto& [due, occupied] = *this;
    if (!visitor.recording()) {
      std::rotate(due_.begin(), due_.end() - static_cast<ptrdiff_t>(visitor.shift() % kCycles), due_.end());
      occupied_ = std::rotl(occupied_, static_cast<int>(visitor.shift() % kCycles));
      return;
    }
    const auto now = static_cast<int>(visitor.now() % kCycles);
    visitor.value("timers", std::rotr(occupied_, now));
    for (uint64_t ahead = std::rotr(occupied_, now); ahead != 0; ahead &= ahead - 1)
      visitor.value("timer_warps", due_[(std::countr_zero(ahead) + now) % kCycles]);
  }

  bool operator==(const TimerWheel&) const = default;

 private:
  static constexpr int kCycles = 64;
  std::array<uint32_t, kCycles> due_{};
  uint64_t occupied_ = 0;
};

}  // namespace warpfold::sim
