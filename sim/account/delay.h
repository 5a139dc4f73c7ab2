#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/time.h"

namespace warpfold::sim {

// By how many cycles something comes later than it would have (sm_inherit.cc).
struct Delay {
  uint64_t others = 0;  // had other launches held nothing
  uint64_t all = 0;     // had no launch held anything, its own included

  bool operator==(const Delay&) const = default;
};

// How far apart two that have anything to do with each other are remembered to be. It bounds the state of a warp that is held up
// and never meets another, and with it when a state recurs. assumed: some wgmma of the longest kind (128 cycles each); with 4096
// the GEMM beside Philox is explained to 100.0 % instead of 99.8 %, for a fifth more of replayed instructions (decision 16).
inline constexpr uint64_t kMostApart = 512;  // cycles

inline uint64_t within(uint64_t late, uint64_t most) { return most > late + kMostApart ? most - kMostApart : late; }
inline Delay within(Delay late, Delay most) { return {within(late.others, most.others), within(late.all, most.all)}; }

// What a cause costs: own launch's costs count to `all` alone.
inline Delay delay_by(uint64_t cycles, bool of_others) { return {of_others ? cycles : 0, cycles}; }

inline Delay operator+(Delay a, Delay b) { return {a.others + b.others, a.all + b.all}; }
inline Delay operator+(Delay late, uint64_t cycles) { return {late.others + cycles, late.all + cycles}; }
inline Delay least(Delay a, Delay b) { return {std::min(a.others, b.others), std::min(a.all, b.all)}; }
inline Delay most(Delay a, Delay b) { return {std::max(a.others, b.others), std::max(a.all, b.all)}; }

// The cycle of an event that warps wait for, and its delay. A warp that needs several of them has the delay of the one that would
// have come last without contention.
struct Arrival {
  Cycle at = kNever;  // kNever: there is none
  Delay delay{};

  bool operator==(const Arrival&) const = default;
};

}  // namespace warpfold::sim
