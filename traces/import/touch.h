#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/access/coalesce.h"
#include "traces/import/domain.h"

namespace warpfold::sass {

namespace access = traces::access;

// Memory that an instruction touches: the addresses of the lanes in one execution, and their movement with loops and
// CTAs.
struct Touch {
  struct Stride {
    int64_t bytes;
    uint64_t count;
    bool elsewhere = false;  // not linear: each execution is assumed to touch other memory
    uint64_t steps = 0;      // instructions that the warp issues from one pass to the next
  };
  int32_t op = 0;
  uint64_t step = 0;            // instructions that the warp issued before, at the origin
  int16_t array = -1;           // -1: unknown
  std::vector<uint64_t> lanes;  // addresses of the active lanes, at the origin; empty: unknown
  uint32_t access_bytes = 4;    // per lane
  uint64_t stated_bytes = 0;    // if lanes are unknown: bytes per execution, from the launch description
  bool random = false;          // each execution at a random place of the array, all places equally likely
  uint32_t receivers = 1;       // CTAs that receive a multicast
  std::array<int64_t, kVariables> slope{};
  uint8_t varies = 0;           // variables that move it otherwise than linearly
  std::vector<Stride> strides;  // strides of folded loops, innermost first

  bool moves_otherwise(int variable) const { return (varies >> variable & 1) != 0; }
};

// Returns the lanes by rising address, in accesses of at most 32.
std::vector<access::LaneAccess> accesses_of(const Touch& touch);
// Returns the lines that one execution touches, `shift` bytes after the origin, each line once.
std::vector<access::LineTouch> lines_of(const Touch& touch, uint64_t shift = 0);

}  // namespace warpfold::sass
