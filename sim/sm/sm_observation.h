// What looks at an SM and changes nothing in it.
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

// What is kept of an SM's run beside its state.
struct Observation {
  std::vector<IssueRecord>* issue_log = nullptr;  // every issue is recorded
  uint32_t sm_class = 0;                          // of the SM, in the log
  std::optional<TimelineRecorder> timeline{};
  Cycle next_sample = kNever;  // of the timeline's
};

// Keeps a timeline from now on.
void record_timeline(Sm& sm, const TimelineLimits& limits);
// The same at the end of the run, of which nothing more is recorded.
TimelineRecorder end_timeline(Sm& sm);
// A window of the timeline ends.
void sample_use(Sm& sm, Cycle now);
// What has been used so far, in the order of use_lanes.
std::vector<uint64_t> use_of(Sm& sm);
std::vector<UseLane> use_lanes(const Spec& spec);
// The warp was in another segment of its program until `now`.
void entered_segment(Sm& sm, const Warp& warp, uint32_t from, Cycle now);

// Of launches that have done something here.
std::vector<LaunchSpan> launch_spans(const Sm& sm);
uint64_t port_reads(const Sm& sm);  // warp-wide register reads of all sub-cores
// Which warp waits for what, one line a warp. For a deadlocked SM.
std::string waiting_report(const Sm& sm);

}  // namespace warpfold::sim
