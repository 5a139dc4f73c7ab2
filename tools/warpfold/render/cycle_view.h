#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/account/issue_log.h"
#include "tools/warpfold/render/output.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Cycles by which the log reaches beyond the window on both sides. Each fixed wait in the window then lies between two
// issues of the log: a stall count is 15 cycles at most.
inline constexpr uint64_t kLogMargin = 32;

// A window of cycles of one sub-core.
struct CycleView {
  uint64_t from = 0;
  uint64_t until = 0;   // first cycle after the window
  std::string title{};  // scenario, GPU and policy
  uint32_t sub_core = 0;
  std::vector<const traces::Kernel*> kernels{};  // by launch of the log's spans
  const sim::CycleLog* log = nullptr;
};

// Renders what each warp does in each cycle. For people: a row for each warp and a letter for each cycle, then the
// instructions in the order of issue. For machines: a row for each span of cycles.
std::string render_cycles(const CycleView& view, Format format);

}  // namespace warpfold::cli
