#pragma once

#include <cstdint>

#include "configs/gpu.pb.h"

namespace warpfold::workloads {

// SM resources that one CTA requests.
struct CtaFootprint {
  uint32_t warps = 1;
  uint32_t registers_per_thread = 32;
  uint32_t shared_memory_bytes = 0;
  uint32_t tensor_memory_columns = 0;
};

// SM resources that one CTA occupies, rounded to allocation units. Shared memory includes the bytes that the system reserves per
// CTA.
struct CtaUse {
  uint64_t warps = 0;
  uint64_t registers = 0;
  uint64_t shared_memory = 0;
};
CtaUse cta_use(const configs::Gpu& gpu, const CtaFootprint& cta);

// CTAs that an empty SM holds; 0 if a single CTA does not fit. Sizes the grids of persistent kernels, which fill the chip once; the
// simulator places CTAs by itself.
uint32_t ctas_per_sm(const configs::Gpu& gpu, const CtaFootprint& cta);

}  // namespace warpfold::workloads
