#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/memo/checkpoint.h"

namespace warpfold::sim {

// Whether `sm`, whose state `own` equals the one at `from`, answers the program's questions up to `to`, a later checkpoint of the
// same trajectory, as the trajectory's SM did (docs/folding_proof.md, "Memo hit"). No further than to cycle `limit`.
std::optional<MemoHit> memo_hit(const Checkpoint& from, const Checkpoint& to, const Sm& sm, const Snapshot& own, Cycle limit);

// What a warp with `own` trips left of its loops, outermost first, has left where another with `before` has come to `after`; none:
// some test between would have had another answer. `common`: so many loops, from the outermost on, are the same before and after.
std::optional<std::vector<uint64_t>> trips_after(std::span<const uint64_t> before, std::span<const uint64_t> after,
                                                 std::span<const uint64_t> own, size_t common);

}  // namespace warpfold::sim
