// The places of an SM for CTAs: which launch places its next CTA, when and where, and what a CTA's end frees. State: SmState's
// progress, held, ctas, slot_taken, next_cta_at, place_due.
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
// CTAs are placed in launch order as long as they fit, behind all events of a cycle: left-over placement. A launch that has CTAs left holds back the ones
// behind it, except where reservations or quotas part the SM between those of its epoch. Where the next CTA is on the chip's queue,
// the SM asks for it (SmState::asks), and goes on when this is called again.
void place_ctas(Sm& sm, Cycle now);
// An exited warp ends when its last store has left the SM, and its CTA with its last warp.
void maybe_end_warp(Sm& sm, int sub_core, int slot, Delay delay, Cycle now);
// So many CTAs of the launch more have been placed, here or in a stretch that is skipped.
void count_placed(Sm& sm, int launch, uint64_t ctas);

// ---- the rules

// The launch that comes first; none: the launch's next CTA may be placed where it fits.
std::optional<int> held_back_by(const Sm& sm, int launch, Cycle now);
// The launch's next CTA: of all that it takes there is enough.
bool fits(const Sm& sm, int launch);
bool fits_quota(const Sm& sm, int launch);
bool tensor_memory_fits(const Sm& sm, int launch);
bool fits_resource(const Sm& sm, int launch, uint32_t need, uint32_t capacity, uint32_t HeldResources::*held,
                   uint32_t SmLaunch::*reserved);
// Warp slots for a CTA of so many warps; none: there are not so many.
std::optional<std::vector<WarpSlot>> find_slots(const Sm& sm, uint32_t warps);
// Released by now, which an SM may know earlier, and with CTAs left.
bool active(const Sm& sm, int launch);

}  // namespace warpfold::sim
