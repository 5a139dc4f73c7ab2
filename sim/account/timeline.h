#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/account/segment.h"
#include "sim/engine/time.h"

namespace warpfold::sim {

// How much a timeline keeps of one SM, whatever the length of the run.
struct TimelineLimits {
  size_t ctas = 128;     // of the first slices of CTAs and of the last ones, each
  size_t longest = 8;    // of each launch's other slices, the longest: a CTA that runs for most of the time is never left out
  size_t phases = 256;   // the same for phases of roles
  size_t folds = 128;    // of the first folded spans and of the last ones, each
  size_t windows = 128;  // of use; then they get twice as long

  // Of `sms` SMs that are recorded: all of them together keep about as much as eight.
  static TimelineLimits for_each_of(size_t sms);
};

// A CTA on its slot of an SM. One that was there when time was skipped, and came or went in the time skipped, is cut off there.
struct CtaSlice {
  int launch = 0;
  uint32_t cta_class = 0;
  uint32_t slot = 0;  // CTA slot of the SM: at most one CTA at a time
  Cycle start = 0;    // placed, or the end of the folded span in which it was
  Cycle end = 0;      // its place was free again, or the start of the folded span in which it ended
  Cycle placed = 0;   // before `start` where that was in a folded span
  bool ended_folded = false;
};

// What the warps of a CTA's role are at: from the first of them that comes to the phase to the first that comes to the next, or to
// the end of the last one. Cut off as CTAs are.
struct PhaseSlice {
  int launch = 0;
  uint32_t role = 0;
  Phase phase = Phase::kMainLoop;
  uint32_t slot = 0;  // of the CTA
  Cycle start = 0;
  Cycle end = 0;
};

// Time that was not replayed: [start, start + cycles).
struct FoldedSpan {
  Cycle start = 0;
  Cycle cycles = 0;
  uint64_t periods = 0;  // of cycles / periods each
  bool exact = true;     // the state came back bit for bit; else the means of batches stand for it
  // Per launch: CTAs that were placed and ended in it, so that no slice shows them.
  std::vector<uint64_t> ctas;
};

// What can be busy, on a sub-core or on the whole SM.
struct UseLane {
  std::string name;  // as in Outcome::resources
  int sub_core = -1;
  uint64_t per_1000_cycles = 1000;  // capacity
};

// What was busy in [start, end), in the lanes' units. An instruction counts when it issues, with all the cycles that it holds a
// pipe.
struct UseWindow {
  Cycle start = 0;
  Cycle end = 0;
  Cycle folded = 0;  // cycles of it that were skipped
  std::vector<uint64_t> busy;
};

// One launch on one SM.
struct LaunchSpan {
  int launch = 0;
  Cycle released = 0;  // it may place CTAs from here on
  Cycle start = 0;     // its first CTA was placed
  Cycle end = 0;       // its last CTA ended
  uint64_t ctas = 0;
  // Those that no slice shows: between the first and the last slices kept, from the start of the first of them to the end of the
  // last; placed and ended in time that was skipped.
  uint64_t ctas_left_out = 0;
  Cycle left_out_from = 0;
  Cycle left_out_to = 0;
  uint64_t ctas_folded = 0;
};

// The representative SM of a class. Windows tile its time from 0 to `end`.
struct SmTimeline {
  uint64_t sms = 0;
  bool stands_for_others = false;  // SMs of classes with a little less work are among them
  Cycle end = 0;                   // the last thing that happened
  std::vector<LaunchSpan> launches;
  std::vector<CtaSlice> ctas;      // in order of start, then of slot
  std::vector<PhaseSlice> phases;  // in order of start, then of slot and role
  uint64_t phases_left_out = 0;
  std::vector<FoldedSpan> folds;  // in order of time
  uint64_t folds_left_out = 0;    // between the first and the last ones
  uint64_t cycles_left_out = 0;   // of those
  std::vector<UseWindow> windows;
};

struct Timeline {
  std::vector<UseLane> lanes;
  std::vector<SmTimeline> sms;  // by SM class, or by SM
};

}  // namespace warpfold::sim
