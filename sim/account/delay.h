#pragma once

#include <algorithm>
#include <cstdint>

#include "sim/engine/time.h"

namespace warpfold::sim {

// Cycles by which contention has made a warp, a request or an event late (sm_inherit.cc).
struct Delay {
  uint64_t others = 0;  // lateness relative to a run in which other launches hold nothing
  uint64_t all = 0;     // lateness relative to a run in which no launch holds anything, its own included

  bool operator==(const Delay&) const = default;
};

// Largest difference that is remembered between the delays of two warps or requests that can wait for each other. The
// limit bounds the state of a warp that is held up and never waits for another, and so decides when a state recurs.
// assumed: a few wgmma of the longest kind (128 cycles each). A limit of 4096 explains 100.0 % instead of 99.8 % of the
// GEMM beside Philox, but replays a fifth more instructions (decision 16).
inline constexpr uint64_t kMostApart = 512;  // cycles

inline uint64_t within(uint64_t late, uint64_t most) { return most > late + kMostApart ? most - kMostApart : late; }
inline Delay within(Delay late, Delay most) { return {within(late.others, most.others), within(late.all, most.all)}; }

// Returns the delay that a cause adds. Costs of the own launch count in `all` only.
inline Delay delay_by(uint64_t cycles, bool of_others) { return {of_others ? cycles : 0, cycles}; }

inline Delay operator+(Delay a, Delay b) { return {a.others + b.others, a.all + b.all}; }
inline Delay operator+(Delay late, uint64_t cycles) { return {late.others + cycles, late.all + cycles}; }
inline Delay least(Delay a, Delay b) { return {std::min(a.others, b.others), std::min(a.all, b.all)}; }
inline Delay most(Delay a, Delay b) { return {std::max(a.others, b.others), std::max(a.all, b.all)}; }

// Cycle of an event that warps wait for, and its delay. A warp that needs several events gets the delay of the event
// that would come last without contention.
struct Arrival {
  Cycle at = kNever;  // kNever: no event
  Delay delay{};

  bool operator==(const Arrival&) const = default;
};

}  // namespace warpfold::sim
