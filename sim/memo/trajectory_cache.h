#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sim/memo/checkpoint.h"

namespace warpfold::sim {

// The trajectories of the SMs of a run, as checkpoints about every 30,000 instructions. An SM that comes to one of these states, at
// any time and with other work left, continues from a later one of the same trajectory (sim/memo/memo_hit.h). So does the same SM
// when it comes to the state again.
//
// A release ends all trajectories, and work that is taken away by an estimate ends that SM's own.
class TrajectoryCache {
 public:
  // `spacing`: instructions from one checkpoint to the next, at first; 0: kSpacing.
  explicit TrajectoryCache(uint64_t spacing = 0) : spacing_(spacing > 0 ? spacing : kSpacing) {}

  // A trajectory that leads on from no known state.
  size_t begin();
  // Whether a state that the trajectory has reached after so many instructions would be kept.
  bool wants(size_t trajectory, uint64_t instructions) const;
  // The trajectory has reached this state of `sm`, whose key has this hash. Returns the trajectory, a new one if it had ended.
  size_t add(size_t trajectory, const Snapshot& state, uint64_t hash, const Sm& sm);
  // Instructions that a memo hit is worth: fewer are replayed.
  uint64_t worthwhile() const { return spacing_ / 3; }
  // The memo hit that leads `sm`, in this state, furthest; to `limit` at most.
  std::optional<MemoHit> furthest(const Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit) const;
  // The states of the trajectory whose key has this hash: those of the SM itself, as far as it has followed no memo hit since.
  std::vector<const Snapshot*> on_trajectory(size_t trajectory, uint64_t hash) const;
  // Ends all trajectories and forgets them.
  void clear();
  // How often that has been.
  uint64_t cleared() const { return cleared_; }

 private:
  static constexpr uint64_t kSpacing = 30'000;
  static constexpr size_t kMost = 64;        // checkpoints of a trajectory; then every second one goes
  static constexpr size_t kMostOfAll = 256;  // then the oldest trajectory is given up; 130 KB each

  struct Trajectory {
    std::vector<Checkpoint> points;
    uint64_t spacing;
  };
  struct Position {
    size_t trajectory;
    size_t point;
  };

  void thin(size_t trajectory);
  void give_up(size_t trajectory);
  void forget_hashes(size_t trajectory);

  uint64_t spacing_;
  size_t first_ = 0;   // number of the first of trajectories_
  size_t copies_ = 0;  // checkpoints of all
  uint64_t cleared_ = 0;
  std::vector<Trajectory> trajectories_;
  std::unordered_multimap<uint64_t, Position> by_hash_;
};

}  // namespace warpfold::sim
