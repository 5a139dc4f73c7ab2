#pragma once

#include "configs/diagnostic.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Checks what the machine relies on: known architecture and opcodes, non-empty roles that end with EXIT, trip counts of at
// least one, indices (rings, cursors, streams, parameters, classes) in range, warps a multiple that fits a CTA (at most
// 1024 threads), registers 1-255, grid of at least one CTA, ring depths and arrivals of at least one, cursor depth equal to
// the depth of each ring it is used with, wgmma only in roles of four warps aligned to four. `file` names it in messages.
Expected<void> validate(const Kernel& kernel, const std::string& file);

}  // namespace warpfold::traces
