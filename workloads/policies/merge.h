#pragma once

#include <cstdint>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::policies {

// whole x weight / total, rounded down, whatever the size of the product.
uint64_t part_of(uint64_t whole, uint64_t weight, uint64_t total);

// What a guest has to do: passes of its one loop, summed over its CTAs.
Expected<uint64_t> passes_of(const traces::Kernel& guest);

// The host with `warps` warps of the guest in each of its CTAs, which share `passes` passes of the guest's loop by what the host's
// CTAs have to do. The guest's role, streams, rings, cursors, named barriers and parameter get numbers and names behind the host's.
// Registers: where the host moves them between its warpgroups (setmaxnreg), the launch's count becomes what all roles need on
// average and the guest gives back what it has too much; else every thread gets what the hungrier of the two needs. Fails where the
// guest is not one role with one loop, or the numbers do not work out; the result has not been validated.
Expected<traces::Kernel> merge(const traces::Kernel& host, const traces::Kernel& guest, uint32_t warps, uint64_t passes);

}  // namespace warpfold::policies
