#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/account/segment.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// Limits on the size of one SM's timeline, independent of the length of the run.
struct TimelineLimits {
  size_t ctas = 128;     // first slices of CTAs that are kept, and as many last slices
  size_t longest = 8;    // longest slices kept of each launch between these, so that a CTA that runs for most of the
                         // time is never left out
  size_t phases = 256;   // first phase slices that are kept, and as many last slices
  size_t folds = 128;    // first folded spans that are kept, and as many last spans
  size_t windows = 128;  // most windows of use; beyond it windows are merged into longer ones

  // Limits for each of `sms` recorded SMs. Together they keep about as much as eight SMs with the default limits.
  static TimelineLimits for_each_of(size_t sms);
};

// Residency of a CTA in a CTA slot of an SM. A CTA that was placed or ended in skipped time is cut at the border of
// that time.
struct CtaSlice {
  int launch = 0;
  uint32_t cta_class = 0;
  uint32_t slot = 0;  // CTA slot of the SM, which holds at most one CTA at a time
  Cycle start = 0;    // placement, or end of the folded span in which the CTA was placed
  Cycle end = 0;      // release of the slot, or start of the folded span in which the CTA ended
  Cycle placed = 0;   // placement; before `start` if it was in a folded span
  bool ended_folded = false;
};

// Phase of a role of one CTA. It lasts from the first warp that enters the phase to the first warp that enters the next
// phase, or to the end of the last warp. It is cut at skipped time as CTA slices are.
struct PhaseSlice {
  int launch = 0;
  uint32_t role = 0;
  Phase phase = Phase::kMainLoop;
  uint32_t slot = 0;  // slot of the CTA
  Cycle start = 0;
  Cycle end = 0;
};

// Time that was skipped instead of replayed: [start, start + cycles).
struct FoldedSpan {
  Cycle start = 0;
  Cycle cycles = 0;
  uint64_t periods = 0;  // each of cycles / periods cycles
  bool exact = true;     // the state recurred bit for bit; else the span is extrapolated from the means of batches
  // Per launch: CTAs that were placed and ended in the span and so have no slice.
  std::vector<uint64_t> ctas;
};

// Resource of a sub-core or of the whole SM whose use is recorded.
struct UseLane {
  std::string name;  // as in Outcome::resources
  int sub_core = -1;
  uint64_t per_1000_cycles = 1000;  // capacity
};

// Use in [start, end), in the unit of each lane. An instruction counts in the window in which it issues, with all
// cycles that it occupies its pipe.
struct UseWindow {
  Cycle start = 0;
  Cycle end = 0;
  Cycle folded = 0;  // skipped cycles within the window
  std::vector<uint64_t> busy;
};

// One launch on one SM.
struct LaunchSpan {
  int launch = 0;
  Cycle released = 0;  // cycle from which it may place CTAs
  Cycle start = 0;     // placement of its first CTA
  Cycle end = 0;       // end of its last CTA
  uint64_t ctas = 0;
  // CTAs without a slice. ctas_left_out lie between the first and the last slices kept, from left_out_from (the
  // earliest start) to left_out_to (the latest end). ctas_folded were placed and ended in skipped time.
  uint64_t ctas_left_out = 0;
  Cycle left_out_from = 0;
  Cycle left_out_to = 0;
  uint64_t ctas_folded = 0;
};

// Timeline of the simulated SM of a class. Windows cover its time from 0 to `end` without gaps.
struct SmTimeline {
  uint64_t sms = 0;
  bool stands_for_others = false;  // the SM is a sample: SMs of its class run CTAs of their own (SmClass::sampled)
  Cycle end = 0;                   // last event
  std::vector<LaunchSpan> launches;
  std::vector<CtaSlice> ctas;      // ordered by start, then slot
  std::vector<PhaseSlice> phases;  // ordered by start, then slot and role
  uint64_t phases_left_out = 0;
  std::vector<FoldedSpan> folds;  // ordered by time
  uint64_t folds_left_out = 0;    // spans between the first and the last ones kept
  uint64_t cycles_left_out = 0;   // cycles of these spans
  std::vector<UseWindow> windows;
};

struct Timeline {
  std::vector<UseLane> lanes;
  std::vector<SmTimeline> sms;  // by SM class, or by SM
};

}  // namespace warpfold::sim
