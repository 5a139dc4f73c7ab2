#pragma once

#include <cstdint>

#include "traces/access/lane_access.h"

namespace warpfold::sass {

namespace access = traces::access;

// Follows one line in `every`: lines whose number is a multiple of it. Finds the passes in which a run of bytes that
// moves by `stride` touches such a line: i with (address + stride * i) mod (128 * every) close enough to 0. Each
// congruence is solved instead of searched, so the cost is proportional to the passes found.
//
//   128 bytes that move by 128, every = 67:  i = i0, i0 + 67, i0 + 134, ...
class MovingWindow {
 public:
  MovingWindow(int64_t stride, uint64_t every);

  // Calls `found(i)` for every such i below `count`, in no order, while it returns true.
  template <typename Found>
  void for_each(uint64_t address, uint64_t bytes, uint64_t count, const Found& found) const;

 private:
  uint64_t solution(uint64_t ahead) const;

  uint64_t period_;    // in bytes
  uint64_t step_;      // gcd of stride and period: the distance between places that the run can take
  uint64_t inverse_;   // inverse of stride / step modulo distance
  uint64_t distance_;  // passes from one solution to the next
};

template <typename Found>
void MovingWindow::for_each(uint64_t address, uint64_t bytes, uint64_t count, const Found& found) const {
  const uint64_t behind = bytes - 1;  // the run touches a sampled line if it starts at most this many bytes before the line
  const uint64_t places = behind + access::kLineBytes;
  if (places >= period_) {
    for (uint64_t i = 0; i < count && found(i); ++i) continue;
    return;
  }
  // The run's start must come to one of `places` places, from `behind` bytes before a sampled line to the line's last
  // byte.
  const uint64_t ahead = (2 * period_ - behind - address % period_) % period_;  // from the run to the first of these places
  for (uint64_t place = (step_ - ahead % step_) % step_; place < places; place += step_) {
    for (uint64_t i = solution((ahead + place) % period_); i < count; i += distance_) {
      if (!found(i)) return;
    }
  }
}

}  // namespace warpfold::sass
