#pragma once

#include <cstdint>
#include <span>

#include "sim/sm/spec.h"

namespace warpfold::sim {

// Where the warps of a CTA lie: warp w on sub-core (first + w) mod the number of sub-cores. The first is the sub-core with most
// free slots; of four warps or more, sub-core 0 or 4, so that a warpgroup's four warps lie on four sub-cores. `free`: slots, by
// sub-core.
uint32_t first_sub_core(std::span<const uint32_t> free, uint32_t warps);

// CTAs of so many warps that an SM's warp slots hold.
uint32_t warp_slot_limit(const Spec& spec, uint32_t warps);

}  // namespace warpfold::sim
