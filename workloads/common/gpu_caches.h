#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "traces/access/reuse.h"

namespace warpfold::workloads {

// Less than all of a cache, where others use it too.
struct CacheRoom {
  std::optional<uint64_t> l1_bytes;
  std::optional<uint64_t> l2_bytes;
};

// What so many bytes of shared memory, the system's among them, leave of an SM's data memory.
uint64_t l1_beside(const configs::Gpu& gpu, uint64_t shared_bytes);

// The GPU's caches as a kernel meets them: L1 is what the CTAs that an SM holds leave of its data memory. Keeps a reference.
traces::access::CachesFor caches_of(const configs::Gpu& gpu, const CacheRoom& room = {});

}  // namespace warpfold::workloads
