#pragma once

#include <string>

#include "configs/diagnostic.h"
#include "configs/result.pb.h"

namespace warpfold::perfetto {

// Returns a result's timeline as a trace for ui.perfetto.dev (docs/timeline.md). Fails if the result has no timeline, or a timeline
// that no simulation writes: a saved result may have been edited.
//
//   SM class 0: 114 SMs               a group for every class
//     kernels                         a track for each: waiting for room, running
//     replayed and folded             tile the SM's time; folded spans say how many periods they skip
//     CTA slots                       a track for each slot: its CTAs, and inside them the time that was skipped; below it a track
//                                     for each role: prologue, main loop, epilogue
//     sub-core 0 ... 3, SM            a track for the issue slot, each pipe and each shared unit: how busy it was (lane_tracks.h)
Expected<std::string> timeline_trace(const configs::Result& result);

}  // namespace warpfold::perfetto
