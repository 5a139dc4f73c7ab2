#pragma once

#include <cstdint>
#include <span>

#include "sim/sm/spec.h"

namespace warpfold::sim {

// Returns the sub-core of a CTA's first warp. Warp w lies on sub-core (first + w) mod the number of sub-cores. A CTA of
// fewer than four warps starts on the sub-core with most free slots. A CTA of four or more starts on sub-core 0 or 4,
// so that a warpgroup's four warps lie on four sub-cores. `free`: free slots, by sub-core.
uint32_t first_sub_core(std::span<const uint32_t> free, uint32_t warps);

// Returns how many CTAs of `warps` warps fit the warp slots of an SM.
uint32_t warp_slot_limit(const Spec& spec, uint32_t warps);

}  // namespace warpfold::sim
