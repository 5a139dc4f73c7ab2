#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/access/reuse.h"
#include "traces/import/op.h"
#include "traces/import/touch.h"

namespace warpfold::sass {

inline constexpr size_t kKinds = 3;  // of access::Kind

// What an instruction of global memory does in L1 and L2. TMA moves data past L1.
access::Kind access_kind(const Op& op);

// Where, and when, an instruction touches memory in all CTAs of a box and all passes of its loops: runs of bytes that move along
// dimensions.
//
//   LDGSTS.128 of a warp, 8 rows of 64 bytes, 8192 bytes apart, 64 bytes further in each of 126 passes of 250 instructions:
//   one run of 64 bytes, dimensions {8192 bytes, 8} and {64 bytes, 126, 250 steps}
struct AccessPattern {
  struct Run {
    uint64_t address = 0;
    uint64_t bytes = 0;
    bool operator==(const Run&) const = default;
  };
  struct Dimension {
    int64_t bytes = 0;
    uint64_t count = 1;
    uint64_t steps = 0;  // instructions that the warp issues from one to the next
    uint64_t ctas = 0;   // from the CTA of one to that of the next
    bool operator==(const Dimension&) const = default;
  };
  uint32_t box = 0;  // of Exploration::boxes
  uint32_t warp = 0;
  int16_t array = -1;
  access::Kind kind = access::Kind::kLoad;
  uint64_t step = 0;                           // instructions that the warp issued before, at the origin
  std::array<int64_t, kCtaVariables> slope{};  // bytes from CTA to CTA
  std::vector<Run> runs;                       // at the origin
  std::vector<Dimension> dimensions;           // rows of the instruction, then loops, the innermost first
  bool linear = true;                          // else it is somewhere else in each CTA, or pass
};

// `touch` in the CTAs of a box with these extents. Bytes with less than a sector between them are one run, and runs at equal
// distances a dimension.
AccessPattern pattern_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas);

}  // namespace warpfold::sass
