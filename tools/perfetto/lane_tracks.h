#pragma once

#include "configs/timeline.pb.h"
#include "tools/perfetto/trace_writer.h"

namespace warpfold::perfetto {

// Writes the use of an SM's issue slots, pipes and shared units, as groups of tracks below `sm_track`:
//
//   sub-core 0 ... 3, SM     a group for each sub-core, and one for units that exist once per SM
//     alu                    a slice for each window of use in which the pipe was busy at all: 10-20 %, 20-30 %, folded ...
//       use of alu           the same as a counter, in % of capacity
//
// A window records how much a lane was busy, not when: a slice is as long as its window, and its arguments give the use in cycles
// (wavefronts, bytes). Their sum over a track equals the timeline's. A lane that was never busy has no track.
void write_lanes(const configs::Timeline& timeline, const configs::SmTimeline& sm, Track sm_track, TraceWriter& writer);

}  // namespace warpfold::perfetto
