#pragma once

#include <cstdint>

namespace warpfold::traces::access {

// Returns the mean passes of a warp's shared-memory access whose lanes read different words at random. Half and quarter
// warps pass one after another as in shared_wavefronts.h. Each group takes as many passes as its fullest bank has
// words.
//
//   lanes 32, 4 bytes: 3.53      lanes 32, 8 bytes: 2 groups of 16 lanes in 16 pairs of banks, 2 x 3.08      1 lane: 1
double random_passes(uint32_t lanes, uint32_t bytes);

}  // namespace warpfold::traces::access
