#pragma once

#include <cstdint>
#include <vector>

#include "isa/instruction.h"
#include "sim/account/states.h"

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

// Cycles that one warp spends in one state. `instruction`: the instruction that it issues, or for which it waits.
struct WarpSpan {
  uint64_t from = 0;
  uint64_t until = 0;  // first cycle after the span
  WarpState state = WarpState::kSelected;
  uint32_t sub_core = 0;
  int launch = 0;
  uint64_t warp = 0;  // as IssueRecord::warp
  int cta = 0;        // CTA slot of the SM
  int index_in_cta = 0;
  const isa::Instruction* instruction = nullptr;  // of the launch's kernel
};

// A window of an SM's cycles, and the spans of its warps that meet the window. A warp's cycles between two of its spans
// are the fixed wait (stall count) of the earlier instruction.
struct CycleLog {
  uint64_t from = 0;
  uint64_t until = 0;     // first cycle after the window
  uint32_t sm_class = 0;  // class of the SM
  std::vector<WarpSpan> spans{};

  void add(const WarpSpan& span) {
    if (span.from < until && span.until > from) spans.push_back(span);
  }
};

}  // namespace warpfold::sim
