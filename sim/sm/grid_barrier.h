#pragma once

#include <cstdint>

#include "sim/engine/time.h"
#include "sim/sm/program.h"
#include "sim/sm/spec.h"

namespace warpfold::sim {

// A barrier of all CTAs of a launch is a counter in L2. Each CTA adds one and then reads it until all have added:
// cooperative groups' grid.sync(), or an atomicAdd and a loop of loads. In a program:
//
//   MEMBAR.ALL.GPU
//   ATOMG.E.ADD.STRONG.GPU PT, R4, [R2.64], R5 ; {bytes=32 barrier=0}    the CTA arrives
//   LDG.E.STRONG.GPU R6, [R2.64]               ; {bytes=32 barrier=0}    it reads until all have arrived
//   ... branch back to the load
//
// An arrival releases: it is issued when all stores of its CTA are done, and its fence takes one trip to L2 more. The
// arrivals are additions to one sector, so L2 serves those of the whole grid one after the other. An SM represents all
// SMs of its class: its arrival has passed L2 when the class's arrivals have. The last class's arrival completes the
// phase.
//
// Loads that wait are not simulated one by one. The first one is. If it comes too early, the load that counts is the
// first of the following ones, one period after the other, that passes L2 after the last arrival.
inline bool arrives_at_grid(const MicroOp& op) {
  return op.barrier >= 0 && op.l2_passes > 0 &&
         (op.behaviour == isa::Behaviour::kLoadGlobal || op.behaviour == isa::Behaviour::kStoreGlobal);
}
inline bool waits_at_grid(const MicroOp& op) {
  return op.barrier >= 0 && op.l2_passes == 0 && op.behaviour == isa::Behaviour::kLoadGlobal;
}

// Cycles of a fence of GPU scope without stores under way.
// assumed: one trip to L2 and back. Measured on a B300: 267 cycles, where a hit in the near half of a B200's L2 takes some 300
// (B300CAT; configs/gpus/b200.textproto). Huerta et al.'s model of an A6000 has 186, where a hit takes 273.
inline Cycle fence_cycles(const Spec& spec) { return spec.memory.l2_hit_latency; }

// The barrier of a launch as one SM sees it.
struct GridPhase {
  uint64_t arrived = 0;    // arrivals of the SM's CTAs in this phase that L2 has performed, or will by `last`
  Cycle last = 0;          // cycle in which L2 has performed the latest of them; of a complete phase, of all SMs' arrivals
  uint64_t completed = 0;  // phases so far
  // Arrivals of the SM's own CTAs that complete a phase, because all SMs of the launch do the same; 0: only the chip
  // knows (complete_grid_phases).
  uint64_t expected = 0;

  bool operator==(const GridPhase&) const = default;
};

}  // namespace warpfold::sim
