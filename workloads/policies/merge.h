#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::policies {

// Returns whole x weight / total, rounded down, without overflow.
uint64_t part_of(uint64_t whole, uint64_t weight, uint64_t total);

// Returns the passes of the guest's only loop, summed over its CTAs.
Expected<uint64_t> passes_of(const traces::Kernel& guest);

// Returns the host with `warps` warps of the guest in each of its CTAs. The host's CTAs divide `passes` passes of the guest's loop
// in proportion to their own instructions. The guest's role, streams, rings, cursors, named barriers and parameter are renumbered
// and renamed to follow the host's. If the host moves registers between its warpgroups (setmaxnreg), the launch's register count
// becomes the average need of all roles, and the guest returns its surplus or requests its deficit. Otherwise every thread gets the
// registers of the kernel that needs more. Fails if the guest is not one role with one loop, or if warps, barriers or registers do
// not fit. The result has not been validated.
Expected<traces::Kernel> merge(const traces::Kernel& host, const traces::Kernel& guest, uint32_t warps, uint64_t passes);

}  // namespace warpfold::policies
