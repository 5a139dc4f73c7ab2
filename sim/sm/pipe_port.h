#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// The way into one math pipe of a sub-core. Instructions enter the pipe's input latch one after the other and hold it for their
// issue interval. On Ampere a taken latch holds back issue; on Hopper some instructions may wait in front of it:
//
//   depth 0, interval 2: issued 0, next admitted 2              depth 2: issued 0, 1, 2 (they enter at 0, 2, 4), next admitted 2
//
// Sources: Huerta et al., MICRO 2025 (latch); cicuvc h100_fixed_admission_depth.md (entries in front of it).
class PipePort {
 public:
  // Takes an instruction of `launch` that holds the latch for `cycles`.
  void occupy(Cycle now, uint32_t cycles, int launch, uint32_t depth) {
    const Cycle enters = later(now, free_at_);
    free_at_ = enters + cycles;
    if (depth == 0) {
      admits_at_ = free_at_;
      holder_ = launch;
      return;
    }
    // With `depth` places, the next one is admitted when the depth-th last has entered the latch.
    entered_[issued_ % kHistory] = enters;
    launch_[issued_ % kHistory] = launch;
    ++issued_;
    const auto awaited = static_cast<uint8_t>(issued_ - depth);
    admits_at_ = entered_[awaited % kHistory];
    const int ahead = launch_[static_cast<uint8_t>(awaited - 1) % kHistory];
    holder_ = ahead >= 0 ? ahead : launch;
  }
  Cycle enters_at(Cycle now) const { return later(now, free_at_); }  // the next instruction, into the latch
  // What has entered takes so much longer.
  void hold_up(Cycle cycles) { free_at_ += cycles; }
  // No warp is left: forgets who was in it, unless that is still in the latch.
  void begin_anew(Cycle now) {
    if (std::max(free_at_, admits_at_) > now) return;
    holder_ = 0;
    launch_.fill(-1);
  }
  // Closed until somebody opens it by other means: the memory queue.
  void close() { admits_at_ = kNever; }

  Cycle admits_at() const { return admits_at_; }  // another instruction may be issued to the pipe
  int holder() const { return holder_; }          // launch whose instruction it waits for until then

  void visit(StateVisitor& visitor, uint32_t depth) {
    visitor.time("pipe_free", free_at_);
    visitor.time("pipe_admits", admits_at_);
    if (!visitor.taking()) {
      for (Cycle& cycle : entered_) cycle = visitor.moved(cycle);
      return;
    }
    // Whom one waits for matters while it waits.
    visitor.value("pipe_holder", admits_at_ > visitor.now() ? static_cast<uint64_t>(holder_) : 0);
    for (uint32_t i = depth; i > 0; --i) {
      const auto entry = static_cast<uint8_t>(issued_ - i);
      const Cycle enters = entered_[entry % kHistory];
      visitor.value("pipe_entered", enters > visitor.now() ? enters - visitor.now() : 0);
      const auto ahead = static_cast<uint8_t>(entry - 1);
      visitor.value("pipe_ahead", enters > visitor.now() ? static_cast<uint64_t>(launch_[ahead % kHistory]) : 0);
    }
    if (depth > 0) visitor.value("pipe_last", static_cast<uint64_t>(launch_[static_cast<uint8_t>(issued_ - 1) % kHistory]));
  }

 private:
  static constexpr std::array<int, 16> nobody() {
    std::array<int, 16> launches{};
    launches.fill(-1);
    return launches;
  }
  static constexpr int kHistory = 16;  // above the deepest admission
  Cycle free_at_ = 0;
  Cycle admits_at_ = 0;
  int holder_ = 0;
  uint8_t issued_ = 0;  // modulo 2^8
  std::array<Cycle, kHistory> entered_{};
  std::array<int, kHistory> launch_ = nobody();  // -1: nobody
};

}  // namespace warpfold::sim
