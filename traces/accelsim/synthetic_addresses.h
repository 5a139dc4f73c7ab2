#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"
#include "traces/access/lane_access.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Regions behind those of the kernel's streams: what hits in L1, and what has no stream.
constexpr uint64_t l1_region(size_t streams) { return streams; }
constexpr uint64_t l2_region(size_t streams) { return streams + 1; }

// Addresses for accesses of a rolled kernel, which has none.
class SyntheticAddresses {
 public:
  explicit SyntheticAddresses(const Kernel& kernel);

  // A global access that touches effect.bytes / 32 sectors, of lanes that move `bytes` each.
  access::LaneAccess global(const isa::Effect& effect, uint32_t bytes);
  // An access of shared memory that takes so many passes: lanes of `bytes` go in groups of `group_lanes`.
  static access::LaneAccess shared(uint32_t wavefronts, uint32_t bytes, int group_lanes);

 private:
  struct Region {
    uint64_t numerator = 0;  // the share that is new
    uint64_t denominator = 1;
    uint64_t accumulated = 0;
    uint64_t fresh = 0;  // sectors that were handed out
    uint64_t accesses = 0;
  };

  std::vector<Region> regions_;
};

}  // namespace warpfold::traces::accelsim
