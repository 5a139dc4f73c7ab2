#pragma once

#include <vector>

#include "sim/engine/state_visitor.h"
#include "traces/kernel.h"

namespace warpfold::sim {

// Two states of one SM with equal keys, `before` the earlier: how many whole periods may follow `after` unseen. Every loop test
// and every placement in them must go as it went between the two; 0 where the first already may not, or where what the states
// count does not fit together (a warp that is elsewhere in its loops).
//
// `ctas`: per launch the classes that the SM receives, in order. `limit`: no period may reach it.
Skip link(const SavedState& before, const SavedState& after, const std::vector<const std::vector<traces::CtaRun>*>& ctas,
          Cycle limit);

}  // namespace warpfold::sim
