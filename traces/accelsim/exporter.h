#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

struct ExportOptions {
  uint64_t first_cta = 0;
  uint64_t ctas = 0;  // 0: all from the first one on
  uint64_t id = 1;    // of the kernel in its list
};

// Writes the kernel as a trace of version 6 (.traceg), every instruction of every warp, in pieces.
//
// A rolled kernel has no addresses. Those of the trace are made so that an access touches as many sectors as its bytes are and
// takes as many passes through shared memory as its wavefronts are. Each memory stream has a region of its own, in which the share
// of its bytes that comes from DRAM is new and the rest was there before; a line "#warpfold stream ..." for each, which other
// readers take for a comment, says the shares, so that reading the trace again gives them back. PCs are places in the text, role
// after role. Control codes, immediates that are no integers and constants are not written: the format has no place for them.
//
// Fails for kernels with mbarriers, bulk copies or wgmma.
Expected<void> export_kernel(const Kernel& kernel, const ExportOptions& options,
                             const std::function<void(std::string_view)>& write);

}  // namespace warpfold::traces::accelsim
