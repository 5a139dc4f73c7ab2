#pragma once

#include <cstdint>

namespace warpfold::sim {

// Memory system as one SM's share sees it. Rates are in 1/1000 byte a cycle for the whole chip, so that shares are exact.
struct MemorySpec {
  uint32_t sm_count = 1;
  uint64_t l2_read_milli_bytes_per_clk = 1;
  uint64_t l2_write_milli_bytes_per_clk = 1;
  uint64_t l2_dirty_bytes = 0;                    // written data that may wait in L2
  uint64_t dram_milli_bytes_per_clk = 1;          // of reads alone, or writes
  uint64_t l2_write_back_bytes = 0;               // beyond them, that leaves as DRAM has time
  uint64_t dram_queue_bytes = 0;                  // evicted data that may wait in DRAM's write queues
  uint64_t dram_turnaround = 0;                   // thousandths that a byte takes more when reads evict it
  uint64_t ingress_milli_bytes_per_clk = 64'000;  // of one SM
  uint64_t egress_milli_bytes_per_clk = 64'000;
  uint32_t l2_hit_latency = 0;  // LDG, issue to use
  uint32_t dram_latency = 0;
  uint32_t bulk_hit_latency = 0;  // bulk copy, issue to data in shared memory
  uint32_t bulk_dram_latency = 0;

  bool operator==(const MemorySpec&) const = default;
};

}  // namespace warpfold::sim
