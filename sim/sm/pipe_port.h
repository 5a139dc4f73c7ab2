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
class alignas(64) PipePort {
 public:
  PipePort() { entries_.fill(kNobody); }

  // Takes an instruction of `launch` that holds the latch for `cycles`.
  void occupy(Cycle now, uint32_t cycles, int launch, uint32_t depth) {
    const Cycle enters = later(now, free_at_);
    free_at_ = enters + cycles;
    entries_[issued_ % kHistory] = enters << kLaunchBits | static_cast<uint16_t>(last_);
    last_ = static_cast<int16_t>(launch);
    ++issued_;
    // With `depth` places, the next one is admitted when the depth-th last has entered the latch.
    const uint64_t awaited = entries_[static_cast<uint8_t>(issued_ - depth) % kHistory];
    const int ahead = launch_ahead(awaited);
    admits_at_ = depth == 0 ? free_at_ : entered(awaited, now);
    holder_ = depth == 0 || ahead < 0 ? launch : ahead;
  }
  Cycle enters_at(Cycle now) const { return later(now, free_at_); }  // the next instruction, into the latch
  // What has entered takes so much longer.
  void hold_up(Cycle cycles) { free_at_ += cycles; }
  // No warp is left: forgets who was in it, unless that is still in the latch.
  void forget_holders(Cycle now) {
    if (std::max(free_at_, admits_at_) > now) return;
    holder_ = 0;
    last_ = -1;
    for (uint64_t& entry : entries_) entry |= kNobody;
  }
  // Never open by itself: the memory queue, whose mask says when.
  void close() { admits_at_ = kNever; }

  Cycle admits_at() const { return admits_at_; }  // another instruction may be issued to the pipe
  int holder() const { return holder_; }          // launch whose instruction it waits for until then

  void visit(StateVisitor& visitor, uint32_t depth) {
    // Every field. issued counts places of a ring.
    [[maybe_unused]] const auto& [free_at, admission, holder, last, issued, entries] = *this;
    if (!visitor.recording()) {
      visitor.time("pipe_free", free_at_);
      visitor.time("pipe_admits", admits_at_);
      for (uint64_t& entry : entries_) entry += visitor.shift() << kLaunchBits;
      return;
    }
    // Whom one waits for matters while it waits, and of the instructions issued those that have not entered, which are the last
    // ones.
    const Cycle now = visitor.now();
    uint8_t waiting = 0;
    while (waiting < depth && entered(entry_of(waiting), now) > now) ++waiting;
    const bool busy = free_at_ > now || admits_at_ > now;
    visitor.values("pipe_busy", busy, "pipe_waiting", waiting, "pipe_last", depth > 0 ? last_ : int16_t{0}, "pipe_holder",
                   admits_at_ > now ? holder_ : 0);
    if (!busy) return;
    visitor.time("pipe_free", free_at_);
    visitor.time("pipe_admits", admits_at_);
    // Each with the launch of the one ahead of it.
    for (uint8_t i = 0; i < waiting; ++i) visitor.value("pipe_entered", entry_of(i) - (now << kLaunchBits));
  }

  bool operator==(const PipePort&) const = default;

 private:
  // The instructions issued last, each in one word, since a sub-core goes through its ports' histories all the time: when it enters
  // the latch, modulo 2^48, which is more than is ever replayed (a skip takes it along), and the launch of the one ahead of it.
  static constexpr int kLaunchBits = 16;
  static constexpr uint64_t kNobody = (uint64_t{1} << kLaunchBits) - 1;
  // `now` if it is past, which may be before cycle 0 where a state has been moved to an earlier time.
  static Cycle entered(uint64_t entry, Cycle now) {
    const auto from_now = static_cast<int64_t>((entry & ~kNobody) - (now << kLaunchBits)) >> kLaunchBits;
    return now + static_cast<Cycle>(std::max<int64_t>(from_now, 0));
  }
  // The last one, the one before it, and so on.
  uint64_t entry_of(uint8_t back) const { return entries_[static_cast<uint8_t>(issued_ - back - 1) % kHistory]; }
  static int launch_ahead(uint64_t entry) { return static_cast<int16_t>(entry & kNobody); }

  static constexpr int kHistory = 16;  // above the deepest admission
  Cycle free_at_ = 0;
  Cycle admits_at_ = 0;
  int holder_ = 0;
  int16_t last_ = -1;   // launch of the instruction issued last; -1: none
  uint8_t issued_ = 0;  // modulo 2^8
  std::array<uint64_t, kHistory> entries_{};
};

}  // namespace warpfold::sim
