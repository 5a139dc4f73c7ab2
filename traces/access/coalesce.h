#pragma once

#include <cstdint>
#include <vector>

#include "traces/access/lane_access.h"

namespace warpfold::traces::access {

// A 128-byte line of which some sectors are touched.
struct LineTouch {
  uint64_t line = 0;    // address / 128
  uint8_t sectors = 0;  // bit s: bytes 32 s to 32 s + 31 of the line
  bool operator==(const LineTouch&) const = default;
};

// What a warp's global access asks of L1: the lines that its lanes touch, each once, by rising address. Lanes that touch the same
// sector share it.
//
//   32 lanes x 4 bytes, one after the other from a multiple of 128:  1 line, 4 sectors
//   the same from 4 bytes further on:                                2 lines, 5 sectors
//   32 lanes at a stride of 128 bytes:                               32 lines, 32 sectors
//
// `touched` is overwritten: a reader of millions of accesses keeps one.
void coalesce(const LaneAccess& access, std::vector<LineTouch>& touched);
std::vector<LineTouch> coalesce(const LaneAccess& access);

uint32_t sector_count(const std::vector<LineTouch>& touched);

// Pairs of neighbouring sectors, 64 bytes of a line, of which one or both are touched.
uint32_t pair_count(const std::vector<LineTouch>& touched);

// Passes of an addition over sectors in L2, which adds to a word once in a pass. 32 lanes that add to one word: 32.
uint32_t l2_passes(const LaneAccess& access);

}  // namespace warpfold::traces::access
