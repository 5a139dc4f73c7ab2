#pragma once

#include <cstdint>

namespace warpfold::sim {

// One issued warp instruction of one SM class, for tests and timelines.
struct IssueRecord {
  uint64_t cycle = 0;
  uint32_t sm_class = 0;
  uint32_t sub_core = 0;
  int launch = 0;
  uint64_t warp = 0;         // order in which the SM started its warps, from 0
  uint32_t instruction = 0;  // position in the role's program, loops counted once
};

}  // namespace warpfold::sim
