#pragma once

#include <atomic>
#include <stdexcept>

namespace warpfold::sim {

// Thrown by a simulation that was told to stop.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("interrupted") {}
};

// Flag that tells all simulations of this process to stop. An SM polls it in every cycle that it simulates, and a run
// of the chip polls it in every round.
inline std::atomic<bool>& stop_wanted() {
  static std::atomic<bool> wanted{false};
  return wanted;
}

inline void stop_if_wanted() {
  if (stop_wanted().load(std::memory_order_relaxed)) throw Interrupted();
}

}  // namespace warpfold::sim
