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

// Returns the time that L2 takes for a store, in pairs of sectors: two fifths for each line and each sector. A packet to
// L2 has a header for each line and a part for each of its sectors. An H100 takes 31 sectors a cycle of one a line, 42 of
// two and 50 of four (docs/notebook/silicon.md, "Dirty lines, sectors and short CTAs").
//
//   a line of four sectors: 2      32 sectors of a line each: 26, as 13 lines of four
uint32_t store_pairs(const std::vector<LineTouch>& touched);

// Returns the passes of a load's lines through L1's tag stage, which looks up one line a cycle in each of four banks.
//
// fitted: a line's bank is the exclusive or of bits 0-1, 2-3, 4-5 and 6-7 of its number. Nsight Compute counted tag
// wavefronts on an A100, an A40 and an H200 at strides of 4 to 62 elements (tests/validation/micro/strides.csv). The
// passes are within 1.5 % of these counts in the mean, 4.4 % at most. Banks by bits 0-1 alone give 12 % less.
//
//   32 lanes x 4 bytes at a stride of 24 bytes, 6 lines: 2      at a stride of 132 bytes, 32 lines: 8
uint32_t tag_passes(const std::vector<LineTouch>& touched);

// Returns the passes of an atomic addition over sectors in L2. A pass adds to each word once: 32 lanes that add to one
// word take 32.
uint32_t l2_passes(const LaneAccess& access);

}  // namespace warpfold::traces::access
