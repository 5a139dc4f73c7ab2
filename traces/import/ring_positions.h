#pragma once

#include <cstdint>
#include <vector>

#include "traces/import/op.h"
#include "traces/import/path.h"

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

// Sets ring, cursor and advance in the path's effects and takes the mbarriers out of its steps. Cursors of other paths are shared
// where depth and start are the same; new ones are added. Throws OutOfOrder.
void place_on_rings(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, Path& path,
                    std::vector<RingCursor>& cursors);

}  // namespace warpfold::sass
