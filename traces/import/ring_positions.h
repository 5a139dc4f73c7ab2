#pragma once

#include <cstdint>
#include <vector>

#include "traces/import/op.h"
#include "traces/import/path.h"
#include "traces/import/turns.h"

namespace warpfold::sass {

// Mbarriers that are the stages of a ring.
struct MbarrierRing {
  std::vector<int32_t> stages;  // addresses
  uint32_t arrivals = 1;        // warps' arrivals that complete a phase
  bool free = false;            // the first pass of waits succeeds
};

struct RingCursor {
  uint32_t depth;
  uint32_t start;
  bool operator==(const RingCursor&) const = default;
};

// An access that no cursor with fixed advances leads to.
struct OutOfOrder {
  int op;
  size_t ring;
};

size_t ring_of(const std::vector<MbarrierRing>& rings, int32_t mbarrier);

// Sets ring, cursor and advance in the path's effects and takes the mbarriers out of its steps. Each warp has one cursor for each
// ring and way to use it (wait, arrive, fill). Cursors of other paths are shared where depth and start are the same; new ones are
// added. A wait is for the phase of `turns`; without them for the next one of its parity. Throws OutOfOrder.
void place_on_rings(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, const Turns& turns, Path& path,
                    std::vector<RingCursor>& cursors);

// Of the cursors, those with which warps arrive or fill alone need to know no more than the stage. They become others of the same
// depth that no warp has besides, so that fewer are left.
void share_cursors(const std::vector<Op>& ops, std::vector<Path>& paths, std::vector<RingCursor>& cursors);

}  // namespace warpfold::sass
