#pragma once

#include <array>
#include <cstdint>

namespace warpfold::traces::access {

inline constexpr int kLanes = 32;
inline constexpr uint32_t kSectorBytes = 32;  // what L1, L2 and DRAM move at least
inline constexpr uint32_t kLineBytes = 128;   // what a tag of L1 and L2 covers: four sectors
inline constexpr uint32_t kSectorsPerLine = kLineBytes / kSectorBytes;

// One memory instruction of a warp: where each active lane begins to read or write, and how many bytes.
struct LaneAccess {
  std::array<uint64_t, kLanes> addresses{};  // of active lanes
  uint32_t mask = 0;                         // bit l: lane l is active
  uint32_t bytes = 4;                        // of a lane: 1, 2, 4, 8, 16
};

}  // namespace warpfold::traces::access
