#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Selects instructions.
struct HotSelection {
  std::string kernel;    // empty: all
  std::string role;      // empty: all
  size_t top = 10;       // number of instructions of each role, hottest first
  bool listing = false;  // true: all instructions in program order, with loops
};

// Renders the instructions of a result that counted by instruction, with the waits of warps at each. `kernels`: the programs, in
// the result's order.
std::string render_hot(const configs::Result& result, const std::vector<const traces::Kernel*>& kernels,
                       const HotSelection& selection, Format format);

}  // namespace warpfold::cli
