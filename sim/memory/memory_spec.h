#pragma once

#include <cstdint>

namespace warpfold::sim {

// Parameters of the memory system. Rates are in 1/1000 byte a cycle and for the whole chip, so that an SM's share is
// exact.
struct MemorySpec {
  uint32_t sm_count = 1;
  uint64_t l2_read_milli_bytes_per_clk = 1;
  uint64_t l2_write_milli_bytes_per_clk = 1;
  uint64_t l2_dirty_bytes = 0;                    // most dirty bytes that stay in L2
  uint64_t dram_milli_bytes_per_clk = 1;          // if all are reads, or all are writes
  uint64_t l2_write_back_bytes = 0;               // most written-back bytes in L2, which leave as DRAM has time
  uint64_t dram_queue_bytes = 0;                  // most evicted bytes in DRAM's write queues
  uint64_t dram_turnaround = 0;                   // thousandths by which a byte that a read evicts takes longer
  uint64_t ingress_milli_bytes_per_clk = 64'000;  // of one SM
  uint64_t egress_milli_bytes_per_clk = 64'000;   // of one SM
  uint32_t l2_hit_latency = 0;                    // cycles, LDG from issue to use
  uint32_t dram_latency = 0;
  uint32_t bulk_hit_latency = 0;  // cycles, bulk copy from issue to data in shared memory
  uint32_t bulk_dram_latency = 0;

  bool operator==(const MemorySpec&) const = default;
};

}  // namespace warpfold::sim
