#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/time.h"

namespace warpfold::sim {

// The loops that warps are in, and the trips left of each.
struct Trips {
  struct OfWarp {
    uint64_t serial = 0;  // a warp that took another's place has another one
    int launch = 0;
    uint32_t depth = 0;  // loops
    size_t first = 0;    // of them, in `left`

    bool operator==(const OfWarp&) const = default;
  };
  std::vector<OfWarp> warps{};
  std::vector<uint64_t> left{};  // warp by warp, the outermost loop first

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

// The state of an SM before a cycle, taken apart into what folding needs (docs/folding_proof.md):
//
//   key      what influences the future, relative to the cycle; compared whole
//   counts   what only counts: grows by the same amount in every period
//   charges  the same, of counters that an account makes as it needs them: a later state of an SM has no fewer, those of an earlier
//            one first
//   levels   quantities between two bounds: they go on as they do until one would come to a bound
//   trips    left of the loops that each warp is in
//   moments  cycles that are either as long ago as a period earlier, or the very same cycle as then (a wait that goes on); whose
//            they are
//   classes  of the resident CTAs: a recurrence has the same, a state that is alike may have others
struct Snapshot {
  struct Level {
    uint64_t at = 0;
    uint64_t most = 0;
    uint64_t added = 0;  // so far

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
  std::vector<uint64_t> whose;
  std::vector<uint64_t> placed;  // per launch: CTAs placed so far
  uint64_t instructions = 0;     // issued so far, all launches

  void clear() {
    for (auto* words : {&key, &classes, &counts, &charges, &moments, &whose, &placed}) words->clear();
    levels.clear();
    trips.clear();
  }
  // Begins anew, for a state about as large as another one.
  void make_room(const Snapshot& like) {
    clear();
    for (const auto words :
         {&Snapshot::key, &Snapshot::classes, &Snapshot::counts, &Snapshot::charges, &Snapshot::moments, &Snapshot::whose})
      (this->*words).reserve((like.*words).size() * 9 / 8);
    trips.warps.reserve(like.trips.warps.size() * 9 / 8);
    trips.left.reserve(like.trips.left.size() * 9 / 8);
  }
};

// How a state moves on: what is added to what it counts and taken from what it has left.
struct FastForward {
  uint64_t periods = 0;
  Cycle cycles = 0;                   // modulo 2^64: a state may be moved to an earlier time, before which nothing has been
  std::vector<uint64_t> counted;      // in the order of Snapshot::counts
  std::vector<uint64_t> charged;      // in the order of Snapshot::charges; what is beyond them stays as it is
  std::vector<uint64_t> risen;        // in the order of Snapshot::levels, modulo 2^64
  std::vector<uint64_t> trips_taken;  // in the order of Trips::left
  std::vector<Cycle> moments;         // per moment: by how much it moves
  std::vector<uint64_t> placed;       // per launch: CTAs
};

}  // namespace warpfold::sim
