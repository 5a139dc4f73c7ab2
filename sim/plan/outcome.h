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

// What the warps of a kernel did in one segment of its code.
struct SegmentCounters {
  Segment segment;
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; selected are the instructions issued
  std::vector<Losses> lost;  // [culprit]: warp-cycles that warps waited for what the culprit held; among the states
  // Of the states: waits for a warp or request of its own that others had held up.
  std::array<uint64_t, kWarpStates> inherited{};
  // In waits of that state: losses that were of no consequence, since the warp waited anyway.
  std::array<uint64_t, kWarpStates> hidden{};
  // The same two, what the launch itself held included.
  std::array<uint64_t, kWarpStates> inherited_in_all{};
  std::array<uint64_t, kWarpStates> hidden_in_all{};
  std::vector<Losses> requests_lost;  // [culprit]: cycles that requests made here waited, whether a warp waits for them or not
};

// Counters of one kernel over the whole chip (sums over SMs) unless said otherwise.
struct KernelCounters {
  uint64_t start_cycle = 0;  // first CTA launched
  uint64_t end_cycle = 0;    // last CTA ended
  uint64_t ctas = 0;
  uint64_t instructions = 0;  // warp instructions
  uint64_t resident_warp_cycles = 0;
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; sum to resident_warp_cycles
  uint64_t l2_bytes = 0;                       // requested from and served by L2
  uint64_t l2_bytes_served = 0;
  uint64_t dram_bytes = 0;
  uint32_t cta_limit = 0;                 // CTAs an SM holds of this kernel alone
  std::string cta_limiter;                // registers, shared_memory, warp_slots, cta_slots
  std::vector<SegmentCounters> segments;  // their states sum to those above
  std::vector<Losses> absent;             // [culprit]: warp-cycles of warps that were not there because of what the culprit held
  std::vector<uint64_t> beside;           // [launch]: resident warp-cycles while CTAs of that launch were on the same SM
};

// Use of one resource over the run, whole chip.
struct ResourceUse {
  std::string name;
  uint64_t busy = 0;
  uint64_t capacity = 0;
};

// A deadlocked program: which warp waits for which. Exit code 3.
struct Deadlock {
  std::string report;
};

// What a run says of alternative bounds of its launches (Options::alternative_bounds).
struct AlternativeBounds {
  bool same = false;                          // every CTA would have been placed when it was: the run is theirs as well,
  std::vector<std::vector<Losses>> absent{};  // [launch]: but for KernelCounters::absent
};

struct Outcome {
  uint64_t total_cycles = 0;
  std::vector<KernelCounters> kernels;  // in launch order
  std::vector<ResourceUse> resources;
  // ledger[victim][culprit][resource] in warp-cycles, launch order: waits of warps and of requests
  std::vector<std::vector<Losses>> ledger;
  uint32_t sm_classes = 0;
  uint32_t sms_simulated = 0;  // one of each class, or every SM that receives a CTA
  bool whole_chip = false;     // Options::all_sms
  FoldReport fold;
  // Of each run that it is made of (Options::run_cache); two outcomes that have one in common point to the same.
  std::vector<std::shared_ptr<const FoldReport>> folds;
  std::vector<std::shared_ptr<const MadeRun>> made;   // Options::keep_runs: what it consists of, equal simulations once
  Timeline timeline;                                  // Options::timeline; else empty
  std::vector<AlternativeBounds> alternative_bounds;  // one for each of Options::alternative_bounds
  // The next launch is known to run as on a new GPU whose L2 holds `dirty_bytes` of dirty lines.
  bool left_idle = false;
  uint64_t dirty_bytes = 0;
  // Launches of those asked for, by index, that the outcome is of: all, or those up to where the GPU was idle (GpuRun::until_idle).
  std::vector<size_t> ran;
  bool deadlocked = false;
  Deadlock deadlock;
};

}  // namespace warpfold::sim
