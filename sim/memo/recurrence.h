#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/sm/sm_launch.h"

namespace warpfold::sim {

// Returns the longest fast-forward by whole periods that may follow `after`, if the two states of one SM have equal
// keys. Every question of the program must be answered in those periods as it was answered between the states. Returns
// no periods if an answer changes in the first one, if a wait does not repeat, or if nothing bounds their number.
//
// `ctas`: per launch, the SM's list of CTAs. `limit`: no period ends after it. `periods_kept`: of the periods that may
// follow, the number to leave out.
FastForward recurrence(const Snapshot& before, const Snapshot& after, const std::vector<const CtaList*>& ctas, Cycle limit,
                       uint64_t periods_kept = 0);

// Sets the growth of counts and charges over by.periods repetitions of the period between the two states. A charge that
// does not exist in `before` starts at 0.
void count(const Snapshot& before, const Snapshot& after, FastForward& by);

constexpr uint64_t kUnbounded = ~uint64_t{0};  // number of periods if nothing bounds it

// Returns the number of periods that a warp's loops allow, for recurrence(). `before`, `after`: trips left of the loops
// around the warp, the outermost one first. All loops must have equal trips left in both, but for one loop of the same
// warp, which must have a trip left after the last period. Appends to `consumed` the trips that a period takes.
uint64_t bound_by_warp(std::span<const uint64_t> before, std::span<const uint64_t> after, bool same_warp,
                       std::vector<uint64_t>& consumed);
// Returns the number of periods in which the classes of placed CTAs repeat those of the last period, with at least one
// CTA left after them.
uint64_t bound_by_ctas(const CtaList& runs, uint64_t placed_before, uint64_t placed_after);

}  // namespace warpfold::sim
