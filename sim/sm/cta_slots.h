// CTA placement on an SM: which launch places its next CTA, when and where, and the resources that a CTA's end frees.
// State: SmState's progress, held, ctas, slot_taken, next_cta_at, place_due.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/account/delay.h"
#include "sim/engine/time.h"
#include "sim/sm/event.h"
#include "sim/sm/sm_launch.h"
#include "sim/sm/sm_state.h"

namespace warpfold::sim {

class Sm;

void handle(Sm& sm, const PlacementEvent& event, Cycle now);
// Places CTAs in launch order as long as they fit, after all events of a cycle: left-over placement. A launch with CTAs
// left holds back the launches behind it, unless reservations or quotas divide the SM among the launches of its epoch.
// If the next CTA is on the chip's queue, the SM asks for it (SmState::asking_launch); the next call goes on from
// there.
void place_ctas(Sm& sm, Cycle now);
// Ends an exited warp when its last store is done, and the CTA when its last warp has ended.
void maybe_end_warp(Sm& sm, int sub_core, int slot, Delay delay, Cycle now);
// Counts `ctas` CTAs of the launch as placed, here or in skipped time.
void count_placed(Sm& sm, int launch, uint64_t ctas);

// ---- the rules

// Returns the launch that has to place its CTAs first; none if the launch may place its next CTA where it fits.
std::optional<int> held_back_by(const Sm& sm, int launch, Cycle now);
// True if every resource has room for the launch's next CTA.
bool fits(const Sm& sm, int launch);
bool fits_quota(const Sm& sm, int launch);
bool tensor_memory_fits(const Sm& sm, int launch);
bool fits_resource(const Sm& sm, int launch, uint32_t need, uint32_t capacity, uint32_t HeldResources::*held,
                   uint32_t SmLaunch::*reserved);
// Returns warp slots for a CTA of `warps` warps; none if too few are free.
std::optional<std::vector<WarpSlot>> find_slots(const Sm& sm, uint32_t warps);
// True if the launch is released by now and has CTAs left or running. An SM may learn of a release before its cycle.
bool active(const Sm& sm, int launch);

}  // namespace warpfold::sim
