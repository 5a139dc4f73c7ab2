#pragma once

#include <vector>

#include "traces/import/touch.h"
#include "traces/import/warp.h"

namespace warpfold::sass {

// What UTMALDG and UTMASTG move: a box of the array that their tensor map describes. Boxes that reach past the tensor count whole.
//
//   UTMALDG.2D [UR8], [UR6]     UR8 to in shared memory, UR9 mbarrier, UR10 UR11 coordinates; UR6 UR7 address of the map
//   UTMASTG.2D [UR8], [UR6]     UR8 from in shared memory, UR9 UR10 coordinates
//   UTMALDG.2D.MULTICAST [UR8], [UR6], UR22     for each CTA of the cluster whose bit is set in the upper half of UR22
void add_bulk_copy(const Warp& warp, const Op& op, uint32_t active, isa::Effect& effect, std::vector<Touch>* touches);

// The CTAs of the cluster that a load hands its box to, one bit a rank.
uint32_t receivers_of(const Warp& warp, const Op& op, uint32_t active);

// The uniform register `position` behind the first that the instruction names.
Word bulk_word(const Warp& warp, const Op& op, uint32_t position);

}  // namespace warpfold::sass
