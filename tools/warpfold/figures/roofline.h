#pragma once

#include "configs/result.pb.h"
#include "traces/kernel.h"

namespace warpfold::cli {

// The kernel's place in the roofline of a GPU (with its factors, of the whole chip), from its program and what `result` says
// already: its time and its DRAM bytes. Bytes of shared memory are wavefronts of 128 bytes, wgmma's operands among them; L2's are
// what it serves and takes, a multicast load once.
void fill_roofline(const configs::Gpu& gpu, const traces::Kernel& kernel, configs::KernelResult& result);

}  // namespace warpfold::cli
