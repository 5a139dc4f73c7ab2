// Observation of an SM, which changes nothing in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/account/issue_log.h"
#include "sim/account/timeline_recorder.h"
#include "sim/sm/spec.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

class Sm;

// Records of an SM's run that are not part of its state.
struct Observation {
  std::vector<IssueRecord>* issue_log = nullptr;  // receives each issue; null: none are recorded
  CycleLog* cycle_log = nullptr;                  // receives what warps do in its window; null: nothing is recorded
  uint32_t sm_class = 0;                          // class of the SM, in the log
  std::optional<TimelineRecorder> timeline{};
  Cycle next_sample = kNever;  // end of the timeline's current window
};

// Starts a timeline.
void record_timeline(Sm& sm, const TimelineLimits& limits);
// Ends the timeline and returns it.
TimelineRecorder end_timeline(Sm& sm);
// Adds the use of resources to the timeline, at the end of a window.
void sample_use(Sm& sm, Cycle now);
// Returns the use of each resource so far, in the order of use_lanes.
std::vector<uint64_t> use_of(Sm& sm);
std::vector<UseLane> use_lanes(const Spec& spec);
// Records in the timeline that the warp has left segment `from` before `now`.
void entered_segment(Sm& sm, const Warp& warp, uint32_t from, Cycle now);

// Returns start, end and CTAs of each launch of which a CTA has ended on the SM.
std::vector<LaunchSpan> launch_spans(const Sm& sm);
uint64_t port_reads(const Sm& sm);  // warp-wide register reads of all sub-cores
// Returns a line for each blocked warp, with the condition for which it waits. For a deadlocked SM.
std::string waiting_report(const Sm& sm);

}  // namespace warpfold::sim
