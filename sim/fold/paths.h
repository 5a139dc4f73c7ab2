#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/shortcut.h"
#include "sim/sm/sm.h"

namespace warpfold::sim {

// The ways that the SMs of a run have gone, as copies of them now and then (docs/folding.md, "Ways already gone"). Another SM that
// comes to one of these states, at any time and with other work left, goes on from a later one as if it had gone there itself; so
// does the same SM when it comes by again.
//
// What an SM does from a state on depends on the state, on the tests of its loops, on the CTAs that it places and on launches that
// are released to it. The first is the same; whether the loops' and the CTAs' part was the same is looked at for each way; where
// a launch is released all paths end, and where work is skipped by rates the SM's own.
class Paths {
 public:
  // `spacing`: instructions from one copy to the next, at first; 0: kSpacing.
  explicit Paths(uint64_t spacing = 0) : spacing_(spacing > 0 ? spacing : kSpacing) {}

  // A way that leads on from nothing that is known.
  size_t begin();
  // Whether a state that the path has come to by so many instructions would be kept.
  bool wants(size_t path, uint64_t instructions) const;
  // The path has come to this state of `sm`, whose key has this hash. Returns the path, which is a new one if it had ended.
  size_t add(size_t path, const Snapshot& state, uint64_t hash, const Sm& sm);
  // Instructions of a way that are worth going along: others are replayed.
  uint64_t worthwhile() const { return spacing_ / 3; }
  // The furthest that `sm`, in this state, gets on a path; no further than to `limit`. None: nowhere.
  std::optional<Shortcut> furthest(const Sm& sm, const Snapshot& state, uint64_t hash, Cycle limit) const;
  // The states on the path whose key has this hash: those of the SM itself, if it has gone there without a shortcut since.
  std::vector<const Snapshot*> on_path(size_t path, uint64_t hash) const;
  // All paths end, and nobody comes by again.
  void clear();
  // How often that has been.
  uint64_t cleared() const { return cleared_; }

 private:
  static constexpr uint64_t kSpacing = 30'000;
  static constexpr size_t kMost = 64;        // copies on a path; then every second one goes
  static constexpr size_t kMostOfAll = 256;  // then the oldest path is given up

  struct Waypoint {
    Snapshot state;
    uint64_t hash;
    std::unique_ptr<SmState> checkpoint;
  };
  struct Path {
    std::vector<Waypoint> points;
    uint64_t spacing;
  };
  struct Place {
    size_t path;
    size_t point;
  };

  std::optional<Shortcut> shortcut(const Waypoint& from, const Waypoint& to, const Sm& sm, const Snapshot& state,
                                   Cycle limit) const;
  void thin(size_t path);
  void give_up(size_t path);
  void forget_hashes(size_t path);

  uint64_t spacing_;
  size_t first_ = 0;   // number of the first of paths_
  size_t copies_ = 0;  // on all
  uint64_t cleared_ = 0;
  std::vector<Path> paths_;
  std::unordered_multimap<uint64_t, Place> by_hash_;
};

// Whether no warp of the launch comes to a loop on the way that one of the parameters bounds, or out of one: with other values of
// these it does the same.
bool stays_in_loops(const Shortcut& shortcut, int launch, const std::vector<bool>& parameters);

// What a warp with `own` trips left of its loops, outermost first, has left where another with `before` has come to `after`; none:
// some test between would have gone another way. `common`: so many loops, from the outermost on, are the same before and after.
std::optional<std::vector<uint64_t>> trips_after(std::span<const uint64_t> before, std::span<const uint64_t> after,
                                                 std::span<const uint64_t> own, size_t common);

}  // namespace warpfold::sim
