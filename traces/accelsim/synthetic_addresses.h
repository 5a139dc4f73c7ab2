#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"
#include "traces/access/lane_access.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

// Regions after those of the kernel's streams: for accesses that hit in L1, and for accesses without a stream.
constexpr uint64_t l1_region(size_t streams) { return streams; }
constexpr uint64_t l2_region(size_t streams) { return streams + 1; }

// Creates addresses for the accesses of a rolled kernel, which has none.
class SyntheticAddresses {
 public:
  explicit SyntheticAddresses(const Kernel& kernel);

  // Returns a global access that touches effect.bytes / 32 sectors, with `bytes` per lane.
  access::LaneAccess global(const isa::Effect& effect, uint32_t bytes);
  // Returns a shared-memory access that takes `wavefronts` passes. Lanes of `bytes` pass in groups of `group_lanes`.
  static access::LaneAccess shared(uint32_t wavefronts, uint32_t bytes, int group_lanes);

 private:
  struct Region {
    uint64_t numerator = 0;  // numerator / denominator of the accesses go to new sectors
    uint64_t denominator = 1;
    uint64_t accumulated = 0;
    uint64_t fresh = 0;  // sectors used so far
    uint64_t accesses = 0;
  };

  std::vector<Region> regions_;
};

}  // namespace warpfold::traces::accelsim
