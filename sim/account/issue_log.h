#pragma once

#include <cstdint>

namespace warpfold::sim {

// One warp instruction issued on an SM of a class, for tests and timelines.
struct IssueRecord {
  uint64_t cycle = 0;
  uint32_t sm_class = 0;
  uint32_t sub_core = 0;
  int launch = 0;
  uint64_t warp = 0;         // number of the warp on its SM, in starting order from 0
  uint32_t instruction = 0;  // position in the role's program, each loop body counted once
};

}  // namespace warpfold::sim
