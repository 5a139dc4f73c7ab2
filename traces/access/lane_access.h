#pragma once

#include <array>
#include <cstdint>

namespace warpfold::traces::access {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kSectorBytes = 32;  // smallest unit that L1, L2 and DRAM move
inline constexpr uint32_t kLineBytes = 128;   // bytes under one tag of L1 and L2: four sectors
inline constexpr uint32_t kSectorsPerLine = kLineBytes / kSectorBytes;

// A memory instruction of a warp: the start address of each active lane, and the bytes per lane.
struct LaneAccess {
  std::array<uint64_t, kLanes> addresses{};  // valid for active lanes
  uint32_t mask = 0;                         // bit l: lane l is active
  uint32_t bytes = 4;                        // per lane: 1, 2, 4, 8 or 16
};

}  // namespace warpfold::traces::access
