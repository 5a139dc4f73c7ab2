#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/time.h"

namespace warpfold::sim {

// A server that moves `numerator / denominator` bytes a cycle, first come first served. Time is kept exactly, in units of
// 1/numerator cycle, so that a share such as 5050/132 bytes a cycle never rounds.
//
//   rate 3/2 bytes a cycle: 4 bytes take 8/3 cycles, so a request at 0 is done at 3 (rounded up) and the next starts at 8/3.
class BandwidthServer {
 public:
  BandwidthServer() = default;
  BandwidthServer(uint64_t numerator, uint64_t denominator) : numerator_(numerator), denominator_(denominator) {}

  // Queues `bytes` at `now`; returns the cycle in which the last byte has passed.
  Cycle serve(Cycle now, uint64_t bytes) {
    if (bytes == 0) return now;
    free_at_ = std::max(free_at_, now * numerator_) + bytes * denominator_;
    served_bytes_ += bytes;
    return (free_at_ + numerator_ - 1) / numerator_;
  }

  uint64_t served_bytes() const { return served_bytes_; }

 private:
  uint64_t numerator_ = 1;
  uint64_t denominator_ = 1;
  uint64_t free_at_ = 0;  // in 1/numerator cycles
  uint64_t served_bytes_ = 0;
};

}  // namespace warpfold::sim
