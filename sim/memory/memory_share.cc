#include "sim/memory/memory_share.h"

#include <algorithm>

namespace warpfold::sim {

MemoryShare::MemoryShare(const MemorySpec& spec)
    : ingress_(spec.ingress_bytes_per_clk, 1),
      egress_(spec.egress_bytes_per_clk, 1),
      l2_read_(spec.l2_read_milli_bytes_per_clk, 1000ULL * spec.sm_count),
      l2_write_(spec.l2_write_milli_bytes_per_clk, 1000ULL * spec.sm_count),
      dram_(spec.dram_milli_bytes_per_clk, 1000ULL * spec.sm_count, spec.l2_dirty_bytes / spec.sm_count) {}

MemoryShare::Reply MemoryShare::read(Cycle now, uint32_t bytes, uint32_t multicast, uint64_t dram_bytes) {
  const Cycle ported = ingress_.serve(now, bytes);
  const Cycle cached = l2_read_.serve(now, bytes / multicast);
  const Cycle fetched = dram_.read(now, dram_bytes);
  return {std::max({ported, cached, fetched}), dram_bytes};
}

MemoryShare::Reply MemoryShare::write(Cycle now, uint32_t bytes, uint64_t dram_bytes) {
  const Cycle ported = egress_.serve(now, bytes);
  const Cycle cached = l2_write_.serve(now, bytes);
  const Cycle evicted = dram_.write(now, dram_bytes);
  return {std::max({ported, cached, evicted}), dram_bytes};
}

}  // namespace warpfold::sim
