#include "workloads/occupancy.h"

#include <algorithm>

namespace warpfold::workloads {
namespace {

uint32_t round_up(uint32_t value, uint32_t unit) { return unit == 0 ? value : (value + unit - 1) / unit * unit; }

}  // namespace

uint32_t ctas_per_sm(const configs::Gpu& gpu, const CtaFootprint& cta) {
  const configs::Sm& sm = gpu.sm();
  const uint32_t warp_registers = round_up(cta.registers_per_thread * 32, sm.register_allocation_unit());
  // Warps are dealt round the sub-cores, each with its quarter of the registers; CTAs here are multiples of four warps.
  uint32_t limit = std::min(sm.cta_slots(), sm.warp_slots() / cta.warps);
  limit = std::min(limit, sm.registers() / (warp_registers * cta.warps));
  const configs::SharedMemory& memory = sm.shared_memory();
  const uint32_t bytes = round_up(cta.shared_memory_bytes + memory.reserved_bytes_per_cta(), memory.allocation_bytes());
  if (bytes > 0) limit = std::min(limit, memory.bytes() / bytes);
  if (cta.shared_memory_bytes > memory.bytes_per_cta_max()) limit = 0;
  return limit;
}

}  // namespace warpfold::workloads
