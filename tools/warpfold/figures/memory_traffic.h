#pragma once

#include "configs/gpu.pb.h"
#include "configs/result.pb.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// Fills `result.memory`: the kernel's demand on each level of memory, by kind of access and by stream.
void fill_memory_traffic(const configs::Gpu& gpu, const traces::Kernel& kernel, configs::KernelResult& result);

}  // namespace warpfold::cli
