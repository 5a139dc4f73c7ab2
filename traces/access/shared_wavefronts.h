#pragma once

#include <cstdint>

#include "traces/access/lane_access.h"

namespace warpfold::traces::access {

inline constexpr uint32_t kBanks = 32;  // banks of shared memory, each 4 bytes wide

// Returns the data stage passes of a warp's shared-memory access. With up to 32 bits per lane the whole warp passes
// together, with 64 bits half warps one after another, with 128 bits quarter warps. Lanes that access the same word
// share a pass; different words of one bank take a pass each. A group without an active lane takes none.
//
// Source: CUDA C Programming Guide, "Shared Memory" of compute capability 5.x and later (32 bits, broadcast; 64 and 128
// bits for half and quarter warps). Nsight Compute counts the same number of wavefronts without a conflict (1, 2, 4).
//
//   lane l at 4 l: 1      lane l at 8 l, 32 bits: 2      lane l at 128 l: 32      all lanes at one word: 1
uint32_t shared_wavefronts(const LaneAccess& access);

// Returns the passes of LDSM or STSM. Lanes 8 m to 8 m + 7 give the addresses of the eight rows of matrix m, 16 bytes
// each. A matrix takes one pass if its rows lie in different banks.
uint32_t matrix_wavefronts(const LaneAccess& access, uint32_t matrices);

}  // namespace warpfold::traces::access
