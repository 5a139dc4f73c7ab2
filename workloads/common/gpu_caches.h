#pragma once

#include <optional>

#include "configs/gpu.pb.h"
#include "traces/access/reuse.h"

namespace warpfold::workloads {

// The part of the caches that a kernel may use if other kernels use them too. Unset: the whole cache.
struct CacheRoom {
  std::optional<uint64_t> l1_bytes;
  std::optional<uint64_t> l2_bytes;
};

// Bytes of L1 in an SM's data memory beside `shared_bytes` of shared memory. `shared_bytes` includes the system's share.
uint64_t l1_beside(const configs::Gpu& gpu, uint64_t shared_bytes);

// The GPU's caches as a kernel meets them. L1 is the part of the data memory that the shared memory of an SM's CTAs leaves free.
// The result keeps a reference to `gpu`.
traces::access::CachesFor caches_of(const configs::Gpu& gpu, const CacheRoom& room = {});

}  // namespace warpfold::workloads
