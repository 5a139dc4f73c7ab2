#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/account/segment.h"
#include "sim/account/states.h"
#include "sim/account/timeline.h"
#include "sim/memo/fold.h"

namespace warpfold::sim {

struct MadeRun;  // sim/plan/made_run.h

using Losses = std::array<uint64_t, kContended>;  // by resource

// Counters of a kernel's warps in one segment of its code.
struct SegmentCounters {
  Segment segment;
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; those in state selected are the instructions issued
  // [culprit]: warp-cycles that warps waited for a resource that the culprit held; part of the states.
  std::vector<Losses> lost;
  // Warp-cycles, part of the states: waits for a warp or request of the same launch that other launches had delayed.
  std::array<uint64_t, kWarpStates> inherited{};
  // Warp-cycles of delay without consequence, by the state in which the warp would have waited anyway.
  std::array<uint64_t, kWarpStates> hidden{};
  // The same two, with delays that the launch caused itself.
  std::array<uint64_t, kWarpStates> inherited_in_all{};
  std::array<uint64_t, kWarpStates> hidden_in_all{};
  // [culprit]: cycles that requests from this segment waited for the culprit, whether a warp waited for them or not.
  std::vector<Losses> requests_lost;
};

// Counters of one kernel, summed over all SMs of the chip unless said otherwise.
struct KernelCounters {
  uint64_t start_cycle = 0;  // first CTA launched
  uint64_t end_cycle = 0;    // last CTA ended
  uint64_t ctas = 0;
  uint64_t instructions = 0;  // warp instructions
  uint64_t resident_warp_cycles = 0;
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; sum to resident_warp_cycles
  uint64_t l2_bytes = 0;                       // requested from L2
  uint64_t l2_bytes_served = 0;                // served by L2
  uint64_t dram_bytes = 0;
  uint32_t cta_limit = 0;                 // CTAs of this kernel that an SM can hold without other kernels
  std::string cta_limiter;                // registers, shared_memory, warp_slots, cta_slots
  std::vector<SegmentCounters> segments;  // their states sum to `states`
  std::vector<Losses> absent;             // [culprit]: warp-cycles of warps for which the culprit left no room
  std::vector<uint64_t> beside;           // [launch]: resident warp-cycles while CTAs of that launch were on the same SM
};

// Use of one resource over the run, whole chip.
struct ResourceUse {
  std::string name;
  uint64_t busy = 0;
  uint64_t capacity = 0;
};

// Report of a deadlocked program: which warp waits for which. The program exits with code 3.
struct Deadlock {
  std::string report;
};

// Findings of a run about alternative bounds of its launches (Options::alternative_bounds).
struct AlternativeBounds {
  // Under these bounds every CTA would have been placed in the same cycle, so the run is also theirs. Only absences
  // differ.
  bool same = false;
  std::vector<std::vector<Losses>> absent{};  // [launch]: as KernelCounters::absent, under these bounds
};

struct Outcome {
  uint64_t total_cycles = 0;
  std::vector<KernelCounters> kernels;  // in launch order
  std::vector<ResourceUse> resources;
  // ledger[victim][culprit][resource] in warp-cycles, in launch order: waits of warps and of requests.
  std::vector<std::vector<Losses>> ledger;
  uint32_t sm_classes = 0;
  uint32_t sms_simulated = 0;  // one of each class, a sample, or every SM that receives a CTA
  bool whole_chip = false;     // Options::all_sms
  FoldReport fold;
  // Report of each simulation that the outcome consists of (Options::run_cache). Outcomes that share a simulation point
  // to the same report.
  std::vector<std::shared_ptr<const FoldReport>> folds;
  std::vector<std::shared_ptr<const MadeRun>> made;   // Options::keep_runs: the simulations of the outcome, each once
  Timeline timeline;                                  // Options::timeline; else empty
  std::vector<AlternativeBounds> alternative_bounds;  // one for each of Options::alternative_bounds
  // True if the next launch is known to run as on a GPU that has just been switched on, but for `dirty_bytes` dirty
  // bytes in L2.
  bool left_idle = false;
  uint64_t dirty_bytes = 0;
  // Indices of the launches that ran: all launches, or, if the run stopped at an idle GPU (GpuRun::until_idle), the
  // launches released by then.
  std::vector<size_t> ran;
  bool deadlocked = false;
  Deadlock deadlock;
};

}  // namespace warpfold::sim
