#pragma once

#include <cstdint>

#include "configs/gpu.pb.h"

namespace warpfold::workloads {

// What one CTA takes of an SM.
struct CtaFootprint {
  uint32_t warps = 1;
  uint32_t registers_per_thread = 32;
  uint32_t shared_memory_bytes = 0;
  uint32_t tensor_memory_columns = 0;
};

// The same in the units that an SM hands out, granularity and the system's share included.
struct CtaUse {
  uint64_t warps = 0;
  uint64_t registers = 0;
  uint64_t shared_memory = 0;
};
CtaUse cta_use(const configs::Gpu& gpu, const CtaFootprint& cta);

// CTAs that an empty SM holds; 0 where one exceeds it. Sizes the grids of persistent kernels, which fill the chip once; the
// simulator places the CTAs itself.
uint32_t ctas_per_sm(const configs::Gpu& gpu, const CtaFootprint& cta);

}  // namespace warpfold::workloads
