#pragma once

#include "traces/access/lane_access.h"

namespace warpfold::test {

// Lane l at base + l x stride.
inline traces::access::LaneAccess strided(uint64_t base, uint64_t stride, uint32_t bytes, uint32_t mask = 0xffffffff) {
  traces::access::LaneAccess access;
  for (int lane = 0; lane < traces::access::kLanes; ++lane) access.addresses[lane] = base + lane * stride;
  access.bytes = bytes;
  access.mask = mask;
  return access;
}

}  // namespace warpfold::test
