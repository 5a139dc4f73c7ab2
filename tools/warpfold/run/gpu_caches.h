#pragma once

#include <cstdint>

#include "configs/gpu.pb.h"
#include "traces/access/reuse.h"

namespace warpfold::cli {

// The GPU's caches as a kernel meets them whose CTA has so many warps, registers a thread and bytes of shared memory: L1 is what
// the CTAs that an SM holds leave of its data memory.
traces::access::CacheSpec caches_for(const configs::Gpu& gpu, uint32_t warps, uint32_t registers, uint32_t shared_bytes);

}  // namespace warpfold::cli
