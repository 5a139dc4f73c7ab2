#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces::accelsim {

struct ExportOptions {
  uint64_t first_cta = 0;
  uint64_t ctas = 0;  // 0: all from first_cta on
  uint64_t id = 1;    // number of the kernel in its list
};

// Writes the kernel as a trace of version 6 (.traceg), with every instruction of every warp, in pieces.
//
// A rolled kernel has no addresses, so the trace gets synthetic ones. An access touches as many sectors as its bytes
// need, and takes as many passes through shared memory as its wavefronts. Each memory stream has its own region. The
// stream's share of bytes from DRAM goes to new sectors, the remaining bytes to sectors used before. A line "#warpfold
// stream ..." states the shares of each stream; an import reads them back, and other readers take the line for a
// comment. PCs are positions in the text, role after role. Control codes, immediates that are no integers, and
// constants are not written, because the format has no place for them.
//
// Fails for kernels with mbarriers, bulk copies or wgmma.
Expected<void> export_kernel(const Kernel& kernel, const ExportOptions& options,
                             const std::function<void(std::string_view)>& write);

}  // namespace warpfold::traces::accelsim
