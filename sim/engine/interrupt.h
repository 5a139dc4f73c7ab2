#pragma once

#include <atomic>
#include <stdexcept>

namespace warpfold::sim {

// Thrown out of a simulation that was told to stop.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Whether simulations of this process are to stop. An SM looks in every cycle that it simulates, the dealing of
// CTAs at every run of equal ones.
inline std::atomic<bool>& stop_wanted() {
  static std::atomic<bool> wanted{false};
  return wanted;
}

inline void stop_if_wanted() {
  if (stop_wanted().load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace warpfold::sim
