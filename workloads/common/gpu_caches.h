#pragma once

#include "configs/gpu.pb.h"
#include "traces/access/reuse.h"

namespace warpfold::workloads {

// The GPU's caches as a kernel meets them: L1 is what the CTAs that an SM holds leave of its data memory. Keeps a reference.
traces::access::CachesFor caches_of(const configs::Gpu& gpu);

}  // namespace warpfold::workloads
