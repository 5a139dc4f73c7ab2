#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "configs/result.pb.h"
#include "tools/warpfold/render/output.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Which instructions are shown.
struct HotSelection {
  std::string kernel;    // empty: all
  std::string role;      // empty: all
  size_t top = 10;       // of each role, the hottest first
  bool listing = false;  // instead: all, in the order of the program, with its loops
};

// Instructions of a result that counted by instruction, with what its warps waited for at each. `kernels`: the programs, in the
// result's order.
std::string render_hot(const configs::Result& result, const std::vector<const traces::Kernel*>& kernels,
                       const HotSelection& selection, Format format);

}  // namespace warpfold::cli
