#include "sim/memory/memory_share.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace warpfold::sim {
namespace {

MemoryShare::Reply slowest_of(const Passage& port, const Passage& l2, const Passage& dram) {
  const Passage slowest = std::max({port, l2, dram}, [](const Passage& a, const Passage& b) { return a.end < b.end; });
  return {slowest.end, std::max({port.idle_end, l2.idle_end, dram.idle_end}), slowest};
}

}  // namespace

ChipMemory::ChipMemory(const MemorySpec& spec, uint32_t shares)
    : l2_read(spec.l2_read_milli_bytes_per_clk, 1000ULL * shares, Contended::kL2Read),
      l2_write(spec.l2_write_milli_bytes_per_clk, 1000ULL * shares, Contended::kL2Write),
      dram(spec.dram_milli_bytes_per_clk, 1000ULL * shares, spec.l2_dirty_bytes / shares) {}

void ChipMemory::arrive(Cycle now) {
  if (now < latest) {
    throw std::logic_error("memory: a request of cycle " + std::to_string(now) + " behind one of " + std::to_string(latest));
  }
  latest = now;
}

MemoryShare::MemoryShare(const MemorySpec& spec)
    : ingress_(spec.ingress_milli_bytes_per_clk, 1000, Contended::kSmIngress),
      egress_(spec.egress_milli_bytes_per_clk, 1000, Contended::kSmEgress),
      own_(spec, spec.sm_count) {}

MemoryShare::Reply MemoryShare::read(ChipMemory* chip, Cycle now, uint32_t bytes, uint32_t multicast, uint64_t dram_bytes,
                                     int launch) {
  ChipMemory& beyond = chip != nullptr ? *chip : own_;
  beyond.arrive(now);
  return slowest_of(ingress_.serve(now, bytes, launch), beyond.l2_read.serve(now, bytes / multicast, launch),
                    beyond.dram.read(now, dram_bytes, launch));
}

MemoryShare::Reply MemoryShare::write(ChipMemory* chip, Cycle now, uint32_t bytes, uint64_t dram_bytes, int launch) {
  ChipMemory& beyond = chip != nullptr ? *chip : own_;
  beyond.arrive(now);
  return slowest_of(egress_.serve(now, bytes, launch), beyond.l2_write.serve(now, bytes, launch),
                    beyond.dram.write(now, dram_bytes, launch));
}

}  // namespace warpfold::sim
