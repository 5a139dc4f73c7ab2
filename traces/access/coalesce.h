#pragma once

#include <cstdint>
#include <vector>

#include "traces/access/lane_access.h"

namespace warpfold::traces::access {

// A 128-byte line and its touched sectors.
struct LineTouch {
  uint64_t line = 0;    // address / 128
  uint8_t sectors = 0;  // bit s: bytes 32 s to 32 s + 31 of the line
  bool operator==(const LineTouch&) const = default;
};

// Returns the L1 lines that the lanes of a warp's global access touch, each once, by rising address. Lanes that touch
// the same sector share it.
//
//   32 lanes x 4 bytes, consecutive from a multiple of 128:          1 line, 4 sectors
//   the same from 4 bytes further on:                                2 lines, 5 sectors
//   32 lanes at a stride of 128 bytes:                               32 lines, 32 sectors
//
// `touched` is overwritten: a caller with millions of accesses reuses one vector.
void coalesce(const LaneAccess& access, std::vector<LineTouch>& touched);
std::vector<LineTouch> coalesce(const LaneAccess& access);

uint32_t sector_count(const std::vector<LineTouch>& touched);

// Returns the pairs of neighbouring sectors, 64 bytes of a line each, that are touched in part or whole.
uint32_t pair_count(const std::vector<LineTouch>& touched);

// Returns the passes of an atomic addition over sectors in L2. A pass adds to each word once: 32 lanes that add to one
// word take 32.
uint32_t l2_passes(const LaneAccess& access);

}  // namespace warpfold::traces::access
