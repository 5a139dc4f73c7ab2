#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traces/access/reuse.h"
#include "traces/import/op.h"
#include "traces/import/touch.h"

namespace warpfold::sass {

inline constexpr size_t kKinds = 3;  // number of values of access::Kind

// Returns the handling of a global memory instruction in L1 and L2. TMA bypasses L1.
access::Kind access_kind(const Op& op);

// Places and times at which an instruction touches memory, over all CTAs of a box and all passes of its loops: runs of
// bytes that move along dimensions.
//
//   LDGSTS.128 of a warp: 8 rows of 64 bytes, 8192 bytes apart; 126 passes of 250 instructions, each 64 bytes further:
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
    uint64_t steps = 0;  // instructions that the warp issues from one element to the next
    uint64_t ctas = 0;   // distance of the CTAs of one element and the next
    bool operator==(const Dimension&) const = default;
  };
  uint32_t box = 0;  // index into Exploration::boxes
  uint32_t warp = 0;
  int16_t array = -1;
  access::Kind kind = access::Kind::kLoad;
  uint64_t step = 0;                           // instructions that the warp issued before the access, at the origin
  std::array<int64_t, kCtaVariables> slope{};  // bytes from CTA to CTA
  std::vector<Run> runs;                       // at the origin
  std::vector<Dimension> dimensions;           // rows of the instruction, then loops, innermost first
  bool linear = true;                          // false: the place depends on the CTA or the pass in another way
};

// Returns the pattern of `touch` in the CTAs of a box with these extents. Runs less than a sector apart become one run;
// runs at equal distances become a dimension.
AccessPattern pattern_of(const Touch& touch, const std::array<uint32_t, kCtaVariables>& ctas);

}  // namespace warpfold::sass
