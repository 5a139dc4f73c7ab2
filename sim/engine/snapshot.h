#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Loops in which the warps are, and the trips left of each loop.
struct Trips {
  struct OfWarp {
    uint64_t serial = 0;  // unique number of the warp; a warp that replaces another one has a new number
    int launch = 0;
    uint32_t depth = 0;  // number of nested loops around the warp's position
    size_t first = 0;    // index in `left` of the outermost loop

    bool operator==(const OfWarp&) const = default;
  };
  std::vector<OfWarp> warps{};
  std::vector<uint64_t> left{};  // warp by warp, outermost loop first

  std::span<const uint64_t> of(const OfWarp& warp) const { return std::span(left).subspan(warp.first, warp.depth); }
  void add(uint64_t serial, int launch, std::span<const uint64_t> trips) {
    warps.push_back({serial, launch, static_cast<uint32_t>(trips.size()), left.size()});
    left.insert(left.end(), trips.begin(), trips.end());
  }
  bool as_many(const Trips& other) const { return warps.size() == other.warps.size() && left.size() == other.left.size(); }
  void clear() {
    warps.clear();
    left.clear();
  }

  bool operator==(const Trips&) const = default;
};

// State of an SM before a cycle, split by its role in folding (docs/folding_proof.md):
//
//   key      state that influences the future, relative to the cycle; compared whole
//   counts   statistics: they grow by the same amount in every period
//   charges  statistics whose counters an account creates on demand. A later state of the same SM has at least the
//            counters of an earlier state, in the same order, at its front
//   levels   quantities between two bounds: they change by the same amount in every period until one would reach a bound
//   trips    trips left of the loops around each warp
//   moments  start cycles of waits and residencies. One period later a start either lies one period later, or is the
//            same cycle (a wait that lasts). `whose` names the warp of each
//   classes  CTA classes of the resident CTAs: equal in a recurrence, possibly different in a similar state
struct Snapshot {
  struct Level {
    uint64_t at = 0;
    uint64_t most = 0;
    uint64_t added = 0;  // total added so far

    bool operator==(const Level& other) const { return at == other.at && most == other.most; }
  };
  Cycle at = 0;
  std::vector<uint64_t> key;
  std::vector<uint64_t> classes;
  std::vector<uint64_t> counts;
  std::vector<uint64_t> charges;
  std::vector<Level> levels;
  Trips trips;
  std::vector<Cycle> moments;
  std::vector<uint64_t> moment_owners;
  std::vector<uint64_t> placed;  // CTAs placed so far, per launch
  uint64_t instructions = 0;     // issued so far by all launches

  void clear() {
    for (auto* words : {&key, &classes, &counts, &charges, &moments, &moment_owners, &placed}) words->clear();
    levels.clear();
    trips.clear();
  }
  // Clears the snapshot and reserves memory for a state about as large as `like`.
  void make_room(const Snapshot& like) {
    clear();
    for (const auto words :
         {&Snapshot::key, &Snapshot::classes, &Snapshot::counts, &Snapshot::charges, &Snapshot::moments, &Snapshot::moment_owners})
      (this->*words).reserve((like.*words).size() * 9 / 8);
    trips.warps.reserve(like.trips.warps.size() * 9 / 8);
    trips.left.reserve(like.trips.left.size() * 9 / 8);
  }
};

// Change of a state by a skip: additions to its counts and reductions of its remaining work.
struct FastForward {
  uint64_t periods = 0;
  Cycle cycles = 0;                   // modulo 2^64: a state may move back (StateVisitor::moved clamps to cycle 0)
  std::vector<uint64_t> counted;      // in the order of Snapshot::counts
  std::vector<uint64_t> charged;      // in the order of Snapshot::charges; later counters do not change
  std::vector<uint64_t> risen;        // in the order of Snapshot::levels, modulo 2^64
  std::vector<uint64_t> trips_taken;  // in the order of Trips::left
  std::vector<Cycle> moments;         // shift of each moment
  std::vector<uint64_t> placed;       // CTAs placed, per launch
};

}  // namespace warpfold::sim
