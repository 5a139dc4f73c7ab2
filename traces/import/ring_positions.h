#pragma once

#include <cstdint>
#include <vector>

#include "traces/import/op.h"
#include "traces/import/path.h"
#include "traces/import/turns.h"

namespace warpfold::sass {

// Mbarriers that form the stages of a ring.
struct MbarrierRing {
  std::vector<int32_t> stages;  // addresses
  uint32_t arrivals = 1;        // warps' arrivals that complete a phase
  bool free = false;            // the first round of waits succeeds at once
};

struct RingCursor {
  uint32_t depth;
  uint32_t start;
  bool operator==(const RingCursor&) const = default;
};

// Thrown for an access that no cursor with fixed advances can reach.
struct OutOfOrder {
  int op;
  size_t ring;
};

size_t ring_of(const std::vector<MbarrierRing>& rings, int32_t mbarrier);

// Sets ring, cursor and advance in the path's effects, and removes mbarriers from its steps. Each warp has one cursor
// per ring and use (wait, arrive, fill). Cursors of other paths are shared if depth and start are equal; otherwise new
// ones are added. A wait is for the phase that `turns` states; without turns, for the next phase of its parity. Throws
// OutOfOrder.
void place_on_rings(const std::vector<Op>& ops, const std::vector<MbarrierRing>& rings, const Turns& turns, Path& path,
                    std::vector<RingCursor>& cursors);

// Reduces the number of cursors. A cursor used only to arrive or fill needs just the stage. It is replaced by a cursor
// of the same depth and start stage that none of its paths uses.
void share_cursors(const std::vector<Op>& ops, std::vector<Path>& paths, std::vector<RingCursor>& cursors);

}  // namespace warpfold::sass
