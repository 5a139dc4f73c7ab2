#pragma once

#include <cstdint>

#include "traces/access/lane_access.h"

namespace warpfold::traces::access {

inline constexpr uint32_t kBanks = 32;  // of shared memory, a word of 4 bytes wide each

// Passes of a warp's shared-memory access through the data stage. Up to 32 bits a lane the whole warp goes at once, with 64 bits
// its halves one after the other, with 128 bits its quarters. Lanes that ask for the same word get it in one pass; different words
// of one bank take a pass each. Groups without an active lane take none.
// Source: CUDA C Programming Guide, "Shared Memory" of compute capability 5.x and later (32 bits, broadcast); half and quarter
// warps: the same guide for 64 and 128 bits, and the wavefronts that Nsight Compute counts without a conflict (1, 2, 4).
//
//   lane l at 4 l: 1      lane l at 8 l, 32 bits: 2      lane l at 128 l: 32      all lanes at one word: 1
uint32_t shared_wavefronts(const LaneAccess& access);

// LDSM and STSM: lanes 8 m to 8 m + 7 give the addresses of the eight rows of matrix m, 16 bytes each; a matrix takes a pass where
// its rows lie in different banks.
uint32_t matrix_wavefronts(const LaneAccess& access, uint32_t matrices);

}  // namespace warpfold::traces::access
