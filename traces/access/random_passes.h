#pragma once

#include <cstdint>

namespace warpfold::traces::access {

// Passes that a warp's shared-memory access takes on average where its lanes lie in different words at random: half and quarter
// warps go one after the other as in shared_wavefronts.h, and each group takes as many passes as its fullest bank has words.
//
//   lanes 32, 4 bytes: 3.53      lanes 32, 8 bytes: 2 groups of 16 lanes in 16 pairs of banks, 2 x 3.08      1 lane: 1
double random_passes(uint32_t lanes, uint32_t bytes);

}  // namespace warpfold::traces::access
