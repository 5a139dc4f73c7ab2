#pragma once

#include "configs/timeline.pb.h"
#include "tools/perfetto/trace_writer.h"

namespace warpfold::perfetto {

// How busy the issue slots, the pipes and the shared parts of an SM were, as groups of tracks below `sm`:
//
//   sub-core 0 ... 3, SM     a group for each sub-core, and one for what the SM has once
//     alu                    a slice for each window of use in which the pipe was busy at all: 10-20 %, 20-30 %, folded ...
//       use of alu           the same as a counter, in % of capacity
//
// A window says how much a lane was busy in it, not when: a slice is as long as its window, and its arguments say how many cycles
// (wavefronts, bytes) of it were use. Summed over a track they are the timeline's. A lane that was never busy has no track.
void write_lanes(const configs::Timeline& timeline, const configs::SmTimeline& sm, Track sm_track, TraceWriter& writer);

}  // namespace warpfold::perfetto
