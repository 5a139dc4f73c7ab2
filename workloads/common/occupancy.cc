#include "workloads/common/occupancy.h"

#include <algorithm>

namespace warpfold::workloads {
namespace {

uint64_t round_up(uint64_t value, uint32_t unit) { return unit == 0 ? value : (value + unit - 1) / unit * unit; }

}  // namespace

CtaUse cta_use(const configs::Gpu& gpu, const CtaFootprint& cta) {
  const configs::Sm& sm = gpu.sm();
  const configs::SharedMemory& memory = sm.shared_memory();
  return {cta.warps, cta.warps * round_up(uint64_t{cta.registers_per_thread} * 32, sm.register_allocation_unit()),
          round_up(uint64_t{cta.shared_memory_bytes} + memory.reserved_bytes_per_cta(), memory.allocation_bytes())};
}

uint32_t ctas_per_sm(const configs::Gpu& gpu, const CtaFootprint& cta) {
  const configs::Sm& sm = gpu.sm();
  const CtaUse use = cta_use(gpu, cta);
  // Warps are assigned to the sub-cores round robin, and each sub-core has a quarter of the registers. CTAs here have a multiple of
  // four warps, so a limit per SM suffices.
  uint64_t limit = sm.cta_slots();
  if (use.warps > 0) limit = std::min(limit, sm.warp_slots() / use.warps);
  if (use.registers > 0) limit = std::min(limit, sm.registers() / use.registers);
  if (use.shared_memory > 0) limit = std::min(limit, sm.shared_memory().bytes() / use.shared_memory);
  if (cta.tensor_memory_columns > 0)
    limit = std::min<uint64_t>(limit, sm.tcgen05().tensor_memory_columns() / cta.tensor_memory_columns);
  if (cta.shared_memory_bytes > sm.shared_memory().bytes_per_cta_max()) limit = 0;
  return static_cast<uint32_t>(limit);
}

}  // namespace warpfold::workloads
