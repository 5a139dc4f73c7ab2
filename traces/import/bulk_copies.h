#pragma once

#include <vector>

#include "traces/import/touch.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// Adds the effect of UTMALDG and UTMASTG: they move a box of the array that the tensor map describes. A box that
// reaches past the tensor counts whole.
//
//   UTMALDG.2D [UR8], [UR6]     UR8 destination in shared memory, UR9 mbarrier, UR10 UR11 coordinates; UR6 UR7 address of the map
//   UTMASTG.2D [UR8], [UR6]     UR8 source in shared memory, UR9 UR10 coordinates
//   UTMALDG.2D.MULTICAST [UR8], [UR6], UR22     for each CTA of the cluster whose bit is set in the upper half of UR22
void add_bulk_copy(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches);

// Returns the CTAs of the cluster that receive the box of a load, one bit per rank.
uint32_t receivers_of(const Warp& warp, const Op& op, uint32_t active);

// Returns the uniform register `position` places after the first register that the instruction names.
Word bulk_word(const Warp& warp, const Op& op, uint32_t position);

}  // namespace warpfold::sass
