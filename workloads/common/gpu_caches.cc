#include "workloads/common/gpu_caches.h"

#include <algorithm>
#include <array>

#include "workloads/common/occupancy.h"

namespace warpfold::workloads {
namespace {

constexpr uint64_t kKib = 1024;

// Data memory of an SM, shared memory and L1 together. Source: CUDA C Programming Guide 12.6, chapters on compute capabilities 8.x
// and 9.0: 192 KB (8.0), 128 KB (8.6), 256 KB (9.0).
uint64_t data_memory(const configs::Gpu& gpu) {
  if (gpu.architecture() == "sm_80") return 192 * kKib;
  if (gpu.architecture() == "sm_86") return 128 * kKib;
  return 256 * kKib;
}

// What may be set aside as shared memory, in KB. Source: the same chapters; 8.0 ends at 164, 8.6 at 100.
constexpr std::array<uint64_t, 10> kCarveOuts = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};

traces::access::CacheSpec caches(const configs::Gpu& gpu, uint32_t warps, uint32_t registers, uint32_t shared_bytes) {
  const CtaFootprint cta{warps, registers, shared_bytes};
  const uint64_t ctas = std::max(ctas_per_sm(gpu, cta), 1U);
  // A kernel without shared memory leaves the system's share alone.
  const uint64_t used = shared_bytes == 0 ? 0 : ctas * cta_use(gpu, cta).shared_memory;
  const auto* const enough = std::ranges::find_if(kCarveOuts, [&](uint64_t kib) { return kib * kKib >= used; });
  const uint64_t carved = (enough == kCarveOuts.end() ? kCarveOuts.back() : *enough) * kKib;
  const uint64_t all = data_memory(gpu);
  return {.l1_bytes = all > carved ? all - carved : 0,
          .l2_bytes = gpu.l2().bytes(),
          .sms = gpu.sm_count(),
          .ctas_per_sm = static_cast<uint32_t>(ctas)};
}

}  // namespace

traces::access::CachesFor caches_of(const configs::Gpu& gpu) {
  return [&gpu](uint32_t warps, uint32_t registers, uint32_t shared_bytes) { return caches(gpu, warps, registers, shared_bytes); };
}

}  // namespace warpfold::workloads
