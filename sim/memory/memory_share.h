#pragma once

#include <cstdint>

#include "sim/engine/bandwidth_server.h"
#include "sim/engine/time.h"
#include "sim/memory/memory_spec.h"

namespace warpfold::sim {

// One SM's exact share of the memory system: its network ports, and 1/sm_count of L2 and DRAM bandwidth.
// A transfer passes all servers it needs at once and is done when the slowest has passed it; latency comes on top.
class MemoryShare {
 public:
  explicit MemoryShare(const MemorySpec& spec);

  struct Reply {
    Cycle transferred;  // bandwidth only
    uint64_t dram_bytes;
  };

  // L2 to SM. `multicast` SMs receive the same bytes, so that L2 and DRAM serve 1/multicast of them for this SM.
  Reply read(Cycle now, uint32_t bytes, uint32_t multicast, uint64_t dram_bytes);
  // SM to L2 (and to DRAM for the share that is evicted).
  Reply write(Cycle now, uint32_t bytes, uint64_t dram_bytes);

  uint64_t l2_read_bytes() const { return l2_read_.served_bytes(); }
  uint64_t l2_write_bytes() const { return l2_write_.served_bytes(); }
  uint64_t dram_bytes() const { return dram_.served_bytes(); }
  uint64_t ingress_bytes() const { return ingress_.served_bytes(); }

 private:
  BandwidthServer ingress_;
  BandwidthServer egress_;
  BandwidthServer l2_read_;
  BandwidthServer l2_write_;
  BandwidthServer dram_;
};

// Splits a stream's bytes into L2 hits and DRAM accesses in an exact, evenly spread order.
class DramFraction {
 public:
  DramFraction() = default;
  DramFraction(uint64_t numerator, uint64_t denominator) : numerator_(numerator), denominator_(denominator) {}

  // Of the next `bytes`, how many go to DRAM.
  uint64_t take(uint64_t bytes) {
    const Wide sum = static_cast<Wide>(bytes) * numerator_ + accumulated_;
    accumulated_ = static_cast<uint64_t>(sum % denominator_);
    return static_cast<uint64_t>(sum / denominator_);
  }

 private:
  __extension__ using Wide = unsigned __int128;
  uint64_t numerator_ = 0;
  uint64_t denominator_ = 1;
  uint64_t accumulated_ = 0;
};

}  // namespace warpfold::sim
