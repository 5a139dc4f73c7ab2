#include "workloads/common/gpu_caches.h"

#include <algorithm>
#include <array>

#include "workloads/common/occupancy.h"

namespace warpfold::workloads {
namespace {

constexpr uint64_t kKib = 1024;

// Carve-outs of shared memory that a GPU offers, in KB. Source: CUDA C Programming Guide 12.6 and 13.0, chapters on compute
// capabilities; 8.0 ends at 164, 8.6 at 100.
constexpr std::array<uint64_t, 10> kCarveOuts = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

}  // namespace

uint64_t l1_beside(const configs::Gpu& gpu, uint64_t shared_bytes) {
  const auto* const enough = std::ranges::find_if(kCarveOuts, [&](uint64_t kib) { return kib * kKib >= shared_bytes; });
  // assumed: a GPU with more shared memory than these offers one more carve-out, of all its shared memory
  const uint64_t carved = enough == kCarveOuts.end() ? gpu.sm().shared_memory().bytes() : *enough * kKib;
  const uint64_t all = gpu.sm().data_memory_bytes();
  return all > carved ? all - carved : 0;
}

traces::access::CachesFor caches_of(const configs::Gpu& gpu, const CacheRoom& room) {
  return [&gpu, room](uint32_t warps, uint32_t registers, uint32_t shared_bytes) {
    const CtaFootprint cta{warps, registers, shared_bytes};
    const uint32_t ctas = std::max(ctas_per_sm(gpu, cta), 1U);
    return traces::access::CacheSpec{.l1_bytes = room.l1_bytes.value_or(l1_beside(gpu, ctas * cta_use(gpu, cta).shared_memory)),
                                     .l2_bytes = room.l2_bytes.value_or(gpu.l2().bytes()),
                                     .sms = gpu.sm_count(),
                                     .ctas_per_sm = ctas};
  };
}

}  // namespace warpfold::workloads
