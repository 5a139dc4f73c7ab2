#include "sim/memory/memory_share.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpfold::sim {

ChipMemory::ChipMemory(const MemorySpec& spec, uint32_t shares)
    : l2_read(spec.l2_read_milli_bytes_per_clk, 1000ULL * shares),
      l2_write(spec.l2_write_milli_bytes_per_clk, 1000ULL * shares),
      dram(spec.dram_milli_bytes_per_clk, 1000ULL * shares, spec.l2_dirty_bytes / shares) {}

void ChipMemory::arrive(Cycle now) {
  if (now < latest) {
    throw std::logic_error("memory: a request of cycle " + std::to_string(now) + " behind one of " + std::to_string(latest));
  }
  latest = now;
}

MemoryShare::MemoryShare(const MemorySpec& spec, ChipMemory* chip)
    : ingress_(spec.ingress_bytes_per_clk, 1),
      egress_(spec.egress_bytes_per_clk, 1),
      own_(spec, spec.sm_count),
      beyond_(chip != nullptr ? chip : &own_) {}

MemoryShare::MemoryShare(const MemoryShare& other)
    : ingress_(other.ingress_),
      egress_(other.egress_),
      own_(other.own_),
      beyond_(other.beyond_ == &other.own_ ? &own_ : other.beyond_) {}

MemoryShare::Reply MemoryShare::read(Cycle now, uint32_t bytes, uint32_t multicast, uint64_t dram_bytes) {
  beyond_->arrive(now);
  const Cycle ported = ingress_.serve(now, bytes);
  const Cycle cached = beyond_->l2_read.serve(now, bytes / multicast);
  const Cycle fetched = beyond_->dram.read(now, dram_bytes);
  return {std::max({ported, cached, fetched}), dram_bytes};
}

MemoryShare::Reply MemoryShare::write(Cycle now, uint32_t bytes, uint64_t dram_bytes) {
  beyond_->arrive(now);
  const Cycle ported = egress_.serve(now, bytes);
  const Cycle cached = beyond_->l2_write.serve(now, bytes);
  const Cycle evicted = beyond_->dram.write(now, dram_bytes);
  return {std::max({ported, cached, evicted}), dram_bytes};
}

}  // namespace warpfold::sim
