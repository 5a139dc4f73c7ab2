#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/access/coalesce.h"
#include "traces/import/domain.h"

namespace warpfold::sass {

namespace access = traces::access;

// Memory that an instruction touches: where the lanes of one execution are, and by how much that moves with loops and CTAs.
struct Touch {
  struct Stride {
    int64_t bytes;
    uint64_t count;
    bool elsewhere = false;  // not linear: taken to touch something else each time
    uint64_t steps = 0;      // instructions that the warp issues from one to the next
  };
  int32_t op = 0;
  uint64_t step = 0;            // instructions that the warp issued before, at the origin
  int16_t array = -1;           // -1: not known
  std::vector<uint64_t> lanes;  // addresses of the active ones, at the origin; none: not known
  uint32_t access_bytes = 4;    // of a lane
  uint64_t stated_bytes = 0;    // where lanes are not known: of an execution, by the launch description
  bool random = false;          // each execution elsewhere in the array, all places equally likely
  uint32_t receivers = 1;       // CTAs that a multicast hands it to
  std::array<int64_t, kVariables> slope{};
  uint8_t varies = 0;           // variables that move it otherwise
  std::vector<Stride> strides;  // of loops that were folded, the innermost first

  bool moves_otherwise(int variable) const { return (varies >> variable & 1) != 0; }
};

// The lanes, at most 32 at a time, by rising address.
std::vector<access::LaneAccess> accesses_of(const Touch& touch);
// What one execution touches at `shift` bytes behind the origin, each line once.
std::vector<access::LineTouch> lines_of(const Touch& touch, uint64_t shift = 0);

}  // namespace warpfold::sass
