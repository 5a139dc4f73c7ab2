#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// A state of an SM equals an earlier one, `before`, of its own trajectory: how many whole periods may follow `after` unseen if the
// keys are equal. Every question of the program must be answered in them as it was answered between the two states. 0 where the
// first period already may not follow, or where the states count other things (a warp is elsewhere in its loops).
//
// `ctas`: per launch the classes that the SM receives, in order. `limit`: no period may reach it.
FastForward recurrence(const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas, Cycle limit,
                       uint64_t kept = 0);

// What the periods, repetitions of what happened between the two states, count. A charge that was made for the first time in
// between starts at 0.
void count(const Snapshot& before, const Snapshot& after, FastForward& by);

constexpr uint64_t kUnbounded = ~uint64_t{0};  // periods that nothing bounds

// The parts of it. Periods that a warp's loops allow, `depth` trip counts before and after: loops around the outermost one that has
// moved are where they were, that one has trips left, and those inside it stand where they stood. Appends what a period consumes.
uint64_t bound_by_warp(std::span<const uint64_t> before, std::span<const uint64_t> after, bool same_warp,
                       std::vector<uint64_t>& consumed);
// Periods for which placements go on as in the last one, with a CTA left after them.
uint64_t bound_by_ctas(const CtaList& runs, uint64_t placed_before, uint64_t placed_after);

}  // namespace warpfold::sim
