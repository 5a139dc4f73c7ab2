#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// The way into one math pipe of a sub-core. Instructions enter the pipe's input latch in order; each holds it for its
// issue interval. On Ampere a busy latch blocks issue. On Hopper, up to `depth` instructions may wait in front of the
// latch:
//
//   depth 0, interval 2: issued 0, next admitted 2              depth 2: issued 0, 1, 2 (they enter at 0, 2, 4), next admitted 2
//
// Sources: Huerta et al., MICRO 2025 (latch); cicuvc h100_fixed_admission_depth.md (entries in front of it).
class alignas(64) PipePort {
 public:
  PipePort() { entries_.fill(kNobody); }

  // Issues an instruction of `launch` to the pipe. It will hold the latch for `cycles`. `depth`: entries in front of
  // the latch.
  void occupy(Cycle now, uint32_t cycles, int launch, uint32_t depth) {
    const Cycle enters = later(now, free_at_);
    free_at_ = enters + cycles;
    entries_[issued_ % kHistory] = enters << kLaunchBits | static_cast<uint16_t>(last_);
    last_ = static_cast<int16_t>(launch);
    ++issued_;
    // The next instruction is admitted when the depth-th newest has entered the latch.
    const uint64_t awaited = entries_[static_cast<uint8_t>(issued_ - depth) % kHistory];
    const int ahead = launch_ahead(awaited);
    admits_at_ = depth == 0 ? free_at_ : entered(awaited, now);
    holder_ = depth == 0 || ahead < 0 ? launch : ahead;
  }
  Cycle enters_at(Cycle now) const { return later(now, free_at_); }  // cycle in which an instruction issued now enters the latch
  // Makes the instructions issued so far hold the latch for `cycles` longer.
  void hold_up(Cycle cycles) { free_at_ += cycles; }
  // Forgets the launches of earlier instructions, unless the port is still busy. Requires that no warp is resident.
  void forget_holders(Cycle now) {
    if (std::max(free_at_, admits_at_) > now) return;
    holder_ = 0;
    last_ = -1;
    for (uint64_t& entry : entries_) entry |= kNobody;
  }
  // Closes the port of a memory queue, which never opens by time: SubCore::busy_ports_ says whether the queue has room.
  void close() { admits_at_ = kNever; }

  Cycle admits_at() const { return admits_at_; }  // first cycle in which another instruction may issue to the pipe
  int holder() const { return holder_; }          // launch for whose instruction the pipe is closed until then

  void visit(StateVisitor& visitor, uint32_t depth) {
    // The binding lists all fields. Not visited: issued, an index into a ring.
    [[maybe_unused]] const auto& [free_at, admission, holder, last, issued, entries] = *this;
    if (!visitor.recording()) {
      visitor.time("pipe_free", free_at_);
      visitor.time("pipe_admits", admits_at_);
      for (uint64_t& entry : entries_) entry += visitor.shift() << kLaunchBits;
      return;
    }
    // The holder matters only while the pipe is closed. Of the issued instructions, only the newest matter: the
    // instructions that have not entered the latch.
    const Cycle now = visitor.now();
    uint8_t waiting = 0;
    while (waiting < depth && entered(entry_of(waiting), now) > now) ++waiting;
    const bool busy = free_at_ > now || admits_at_ > now;
    visitor.values("pipe_busy", busy, "pipe_waiting", waiting, "pipe_last", depth > 0 ? last_ : int16_t{0}, "pipe_holder",
                   admits_at_ > now ? holder_ : 0);
    if (!busy) return;
    visitor.time("pipe_free", free_at_);
    visitor.time("pipe_admits", admits_at_);
    // Each word also holds the launch of the instruction ahead.
    for (uint8_t i = 0; i < waiting; ++i) visitor.value("pipe_entered", entry_of(i) - (now << kLaunchBits));
  }

  bool operator==(const PipePort&) const = default;

 private:
  // The instructions issued last, one word each, since sub-cores read their ports' histories very often. The upper 48
  // bits are the cycle in which the instruction enters the latch, modulo 2^48: no replay is longer, and a skip shifts
  // them. The lower 16 bits are the launch of the instruction ahead of it.
  static constexpr int kLaunchBits = 16;
  static constexpr uint64_t kNobody = (uint64_t{1} << kLaunchBits) - 1;
  // Returns the cycle in which the instruction enters the latch, or `now` if that is past. It may lie before cycle 0
  // after a state was moved to an earlier time.
  static Cycle entered(uint64_t entry, Cycle now) {
    const auto from_now = static_cast<int64_t>((entry & ~kNobody) - (now << kLaunchBits)) >> kLaunchBits;
    return now + static_cast<Cycle>(std::max<int64_t>(from_now, 0));
  }
  // Returns the entry `back` places before the newest.
  uint64_t entry_of(uint8_t back) const { return entries_[static_cast<uint8_t>(issued_ - back - 1) % kHistory]; }
  static int launch_ahead(uint64_t entry) { return static_cast<int16_t>(entry & kNobody); }

  static constexpr int kHistory = 16;  // more than the deepest admission
  Cycle free_at_ = 0;
  Cycle admits_at_ = 0;
  int holder_ = 0;
  int16_t last_ = -1;   // launch of the newest instruction; -1: none
  uint8_t issued_ = 0;  // modulo 2^8
  std::array<uint64_t, kHistory> entries_{};
};

}  // namespace warpfold::sim
