#pragma once

#include <cstdint>
#include <vector>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// Stages in shared memory for both passes of FlashAttention-3. Each stage has an mbarrier for full and an mbarrier for free.

// For consumers: a look at a stage's barrier, the wait if the look has failed (or both), and the release of the stage. The look is
// the first check, whose result is kept as a token; it can already block the warp for a while.
void add_look(Code& code, int16_t ring, int16_t cursor);
void add_wait_behind_look(Code& code, int16_t ring, int16_t cursor);
void add_wait(Code& code, int16_t ring, int16_t cursor);
void add_release(Code& code, int16_t ring, int16_t cursor);
void add_next_stage(Code& code, uint32_t stages);

// The registers that hold the position of a loading warp, from `general` and `uniform` on.
struct LoadRegisters {
  uint32_t general;
  uint32_t uniform;
};
// TMA loads into a stage: one copy per box.
struct StageLoad {
  struct Box {
    uint32_t bytes;
    int16_t stream;
  };
  int16_t full;
  int16_t empty;
  int16_t cursor;
  uint32_t stages;
  uint32_t multicast;  // CTAs that receive the data
  std::vector<Box> boxes;
};
void add_stage_load(Code& code, const StageLoad& load, const LoadRegisters& registers);

}  // namespace warpfold::workloads
