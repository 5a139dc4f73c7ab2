#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "sim/engine/state_visitor.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// First-come-first-served server with a rate in bytes per cycle. Time is a whole number of cycles and a binary
// fraction: a byte costs `cost` / 2^`shift` cycles. `cost` is rounded up to 12 or 13 significant bits, so that the
// server is never faster than its rate and less than 1/4096 slower. After a few power-of-two transfers the fraction is
// zero again, which lets a steady state recur (docs/folding_proof.md). An exact rate such as 5050/132 bytes a cycle
// would need thousands of transfers.
//
//   rate 1.5 bytes a cycle: 4 bytes take 2 2/3 cycles (5462/8192 a byte), so a request at 0 is done at 3 and the next
//   starts at 2 2/3
class BandwidthServer {
 public:
  BandwidthServer() = default;
  // Rate: `numerator / denominator` bytes a cycle.
  BandwidthServer(uint64_t numerator, uint64_t denominator) {
    while (shift_ < kMaxShift && (static_cast<Wide>(denominator) << shift_) / numerator < kLeastCost) ++shift_;
    cost_ = static_cast<uint64_t>(((static_cast<Wide>(denominator) << shift_) + numerator - 1) / numerator);
    // An even cost does not need so fine a unit.
    while (shift_ > 0 && cost_ % 2 == 0) {
      cost_ /= 2;
      --shift_;
    }
  }

  // Queues `bytes` at `now`. Returns the cycle in which the last byte has passed.
  Cycle serve(Cycle now, uint64_t bytes) {
    if (bytes == 0) return now;
    served_bytes_ += bytes;
    return work(now, work_of(bytes));
  }

  // Conversions to and from the server's unit of work, which takes 1/2^shift cycles.
  uint64_t work_of(uint64_t bytes) const { return bytes * cost_; }
  // Returns the work of bytes that take `more` thousandths longer than the rate says.
  uint64_t work_of(uint64_t bytes, uint64_t more) const { return bytes * cost_ * (1000 + more) / 1000; }
  uint64_t bytes_of(uint64_t work) const { return work / cost_; }
  Cycle work(Cycle now, uint64_t work) {
    idle_until(now);
    advance(work);
    return free_at_ + (fraction_ > 0 ? 1 : 0);
  }
  // Units of work per cycle, as a power of two.
  uint32_t shift() const { return shift_; }
  // Returns the cycles that `bytes` take on an idle server.
  Cycle duration(uint64_t bytes) const { return (work_of(bytes) + (uint64_t{1} << shift_) - 1) >> shift_; }
  // First cycle with capacity left.
  Cycle free_at() const { return free_at_; }
  // Discards capacity that was unused before `now`.
  void idle_until(Cycle now) {
    if (free_at_ >= now) return;
    free_at_ = now;
    fraction_ = 0;
  }

  // Does as much of `work` as fits into the idle time before `now`. Returns the remaining work.
  uint64_t work_while_idle(Cycle now, uint64_t work) {
    if (work == 0 || free_at_ >= now) return work;
    const Cycle idle = now - free_at_;
    if (idle > (fraction_ + work) >> shift_) {
      advance(work);
      return 0;
    }
    const uint64_t done = (idle << shift_) - fraction_;
    advance(done);
    return work - done;
  }

  uint64_t served_bytes() const { return served_bytes_; }
  // Counts bytes that another server has moved for this server.
  void count(uint64_t bytes) { served_bytes_ += bytes; }

  // Returns the bytes that are queued at `now`.
  uint64_t backlog(Cycle now) const {
    return free_at_ < now ? 0 : static_cast<uint64_t>(((Wide{free_at_ - now} << shift_) + fraction_) / cost_);
  }
  void set_backlog(Cycle now, uint64_t bytes) {
    free_at_ = now;
    fraction_ = 0;
    if (bytes == 0 && now > 0) --free_at_;  // free before `now` already
    advance(work_of(bytes));
  }
  // Sets the rate from `now` on to `numerator / denominator` bytes a cycle. The time of queued work scales with the
  // rate.
  void set_rate(Cycle now, uint64_t numerator, uint64_t denominator) {
    BandwidthServer other(numerator, denominator);
    other.served_bytes_ = served_bytes_;
    other.free_at_ = std::min(free_at_, now);
    if (free_at_ >= now) {
      other.free_at_ = now;
      const Wide left = (Wide{free_at_ - now} << shift_) + fraction_;
      other.advance(static_cast<uint64_t>(left * other.cost_ / cost_));
    }
    *this = other;
  }

  void visit(StateVisitor& visitor, const char* fraction = "bandwidth_fraction", const char* free = "bandwidth_free") {
    // Lists every field, so that a new field does not compile until this function handles it. cost and shift are
    // constant.
    [[maybe_unused]] const auto& [cost, shift, free_from, part, served] = *this;
    const bool behind = free_at_ < visitor.now();
    visitor.value(fraction, behind ? 0 : fraction_);
    visitor.time(free, free_at_);
    visitor.count(served_bytes_);
  }

  bool operator==(const BandwidthServer&) const = default;

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr uint64_t kLeastCost = 4096;
  static constexpr uint32_t kMaxShift = 40;

  void advance(uint64_t work) {
    const uint64_t sum = fraction_ + work;
    free_at_ += sum >> shift_;
    fraction_ = sum & ((uint64_t{1} << shift_) - 1);
  }

  uint64_t cost_ = 1;
  uint32_t shift_ = 0;
  Cycle free_at_ = 0;
  uint64_t fraction_ = 0;  // beyond free_at_, in 1/2^shift cycles
  uint64_t served_bytes_ = 0;
};

}  // namespace warpfold::sim
