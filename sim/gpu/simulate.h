#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "sim/account/issue_log.h"
#include "sim/account/segment.h"
#include "sim/account/states.h"
#include "sim/account/timeline.h"
#include "sim/fold/fold.h"
#include "sim/gpu/distribution.h"
#include "sim/sm/sm_launch.h"
#include "sim/sm/spec.h"
#include "traces/kernel.h"

namespace warpfold::configs {
class Gpu;
}

namespace warpfold::sim {

// One kernel of a run and how it may share the machine.
struct Launch : PlacementBounds {
  const traces::Kernel* kernel = nullptr;
  int stream = 0;          // launches of one stream run in the order given
  int priority = 0;        // higher first
  std::vector<int> after;  // launches (by index) that must have ended
  SmRange sms;             // SM_PARTITION: its CTAs are dealt round these alone, for as long as it runs

  bool operator==(const Launch&) const = default;
};

using Losses = std::array<uint64_t, kContended>;  // by resource

// What the warps of a kernel did in one segment of its code.
struct SegmentCounters {
  Segment segment;
  std::array<uint64_t, kWarpStates> states{};  // warp-cycles; selected are the instructions issued
  std::vector<Losses> lost;  // [culprit]: warp-cycles that warps waited for what the culprit held; among the states
  std::array<uint64_t, kWarpStates> inherited{};  // of the states: waits for a warp or request of its own that others had held up
  std::array<uint64_t, kWarpStates>
      hidden{};  // in waits of that state: losses that were of no consequence, since the warp waited anyway
  std::array<uint64_t, kWarpStates> inherited_in_all{};  // the same two, what the launch itself held included
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
};

// Use of one resource over the run, whole chip.
struct ResourceUse {
  std::string name;
  uint64_t busy = 0;
  uint64_t capacity = 0;
};

// A deadlocked program: who waits for whom. Exit code 3.
struct Deadlock {
  std::string report;
};

// What a run says of other bounds of its launches (Options::other_bounds).
struct OtherBounds {
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
  // Of each run that it is made of (Options::known); two outcomes that have one in common point to the same.
  std::vector<std::shared_ptr<const FoldReport>> folds;
  Timeline timeline;                      // Options::timeline; else empty
  std::vector<OtherBounds> other_bounds;  // one for each of Options::other_bounds
  bool left_idle = false;                 // what is launched next is known to run as on a GPU that has done nothing
  // Launches of those asked for, by index, that the outcome is of: all, or those up to where the GPU was idle (GpuRun::until_idle).
  std::vector<size_t> ran;
  bool deadlocked = false;
  Deadlock deadlock;
};

class KnownRuns;

struct Options {
  bool serialise = false;  // a launch starts only when the one before it has ended
  bool all_sms = false;    // every SM against L2 and DRAM that all share, instead of one of each class; nothing is folded then
  AccountGranularity account = AccountGranularity::kByPhase;
  FoldOptions fold{};
  // Bounds that the launches might have had instead, [which][launch]: where they would have changed nothing, the outcome says so.
  std::vector<std::vector<PlacementBounds>> other_bounds{};
  bool timeline = false;  // records when what ran and what was busy; bounded in size; all is one run then (known)
  // Where launches wait for all before them, what they do after that is a run of its own, and is looked up here before it is made:
  // what a kernel did alone, it does again where it has the GPU to itself. Not asked for a timeline, an issue log or all SMs. None:
  // all launches are simulated in one run, whose cycles are the same, or within the bounds of both where those are estimates.
  KnownRuns* known = nullptr;
  std::vector<IssueRecord>* issue_log =
      nullptr;  // receives every issue, in order of time per SM class (or SM); nothing is folded then
};

// Runs the launches on the GPU: one representative SM for each class of SMs that receive the same CTAs, against its exact share
// of L2 and DRAM; or, with Options::all_sms, every SM. Fails where a CTA can never fit or a kernel is for another architecture.
Expected<Outcome> simulate(const Spec& spec, const std::vector<Launch>& launches, const Options& options = {});
// On the machine that make_spec makes of `gpu`.
Expected<Outcome> simulate(const configs::Gpu& gpu, const std::vector<Launch>& launches, const Options& options = {});

// Two lists of launches of which one may be simulated as other bounds of the other: they are the same in all but these.
bool same_but_for_bounds(const std::vector<Launch>& one, const std::vector<Launch>& other);
std::vector<PlacementBounds> bounds_of(const std::vector<Launch>& launches);
// What simulate() would return for Options::other_bounds[which] of `outcome`; nothing where it is not the same.
std::optional<Outcome> under_other_bounds(const Outcome& outcome, size_t which);

}  // namespace warpfold::sim
