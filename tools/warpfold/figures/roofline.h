#pragma once

#include "configs/result.pb.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Fills `result.roofline`, the kernel's place in the roofline of the whole GPU with its what-if factors. Reads the kernel's
// program, and its time and DRAM bytes from `result`. Shared memory counts wavefronts of 128 bytes, including wgmma's operands. L2
// counts the bytes that it serves and receives, a multicast load once.
void fill_roofline(const configs::Gpu& gpu, const traces::Kernel& kernel, configs::KernelResult& result);

}  // namespace warpfold::cli
