#include "workloads/common/occupancy.h"

#include <algorithm>

namespace warpfold::workloads {
namespace {

uint32_t round_up(uint32_t value, uint32_t unit) { return unit == 0 ? value : (value + unit - 1) / unit * unit; }

}  // namespace

CtaUse cta_use(const configs::Gpu& gpu, const CtaFootprint& cta) {
  const configs::Sm& sm = gpu.sm();
  const configs::SharedMemory& memory = sm.shared_memory();
  const uint32_t warp_registers = round_up(cta.registers_per_thread * 32, sm.register_allocation_unit());
  return {cta.warps, uint64_t{warp_registers} * cta.warps,
          round_up(cta.shared_memory_bytes + memory.reserved_bytes_per_cta(), memory.allocation_bytes())};
}

uint32_t ctas_per_sm(const configs::Gpu& gpu, const CtaFootprint& cta) {
  const configs::Sm& sm = gpu.sm();
  const CtaUse use = cta_use(gpu, cta);
  // Warps are dealt round the sub-cores, each with its quarter of the registers; CTAs here are multiples of four warps.
  uint64_t limit = std::min<uint64_t>(sm.cta_slots(), sm.warp_slots() / use.warps);
  limit = std::min(limit, sm.registers() / use.registers);
  if (use.shared_memory > 0) limit = std::min(limit, sm.shared_memory().bytes() / use.shared_memory);
  if (cta.tensor_memory_columns > 0)
    limit = std::min<uint64_t>(limit, sm.tcgen05().tensor_memory_columns() / cta.tensor_memory_columns);
  if (cta.shared_memory_bytes > sm.shared_memory().bytes_per_cta_max()) limit = 0;
  return static_cast<uint32_t>(limit);
}

}  // namespace warpfold::workloads
