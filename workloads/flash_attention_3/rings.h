#pragma once

#include <cstdint>
#include <vector>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// Stages in shared memory, as both passes of FlashAttention-3 use them: one mbarrier a stage says that it is full, another that it
// is free again.

// Consumers: a look, the wait for what it has not found (or both), and the stage's release. The look is the first check, whose
// result is carried as a token; it may already hold the warp for a while.
void add_look(Code& code, int16_t ring, int16_t cursor);
void add_wait_behind_look(Code& code, int16_t ring, int16_t cursor);
void add_wait(Code& code, int16_t ring, int16_t cursor);
void add_release(Code& code, int16_t ring, int16_t cursor);
void add_next_stage(Code& code, uint32_t stages);

// Loads by one warp: the registers that it keeps its place in, from `general` and `uniform` on.
struct LoadRegisters {
  uint32_t general;
  uint32_t uniform;
};
// What TMA brings into a stage: a copy for each box.
struct StageLoad {
  struct Box {
    uint32_t bytes;
    int16_t stream;
  };
  int16_t full;
  int16_t empty;
  int16_t cursor;
  uint32_t stages;
  uint32_t multicast;  // CTAs that receive it
  std::vector<Box> boxes;
};
void add_stage_load(Code& code, const StageLoad& load, const LoadRegisters& registers);

}  // namespace warpfold::workloads
