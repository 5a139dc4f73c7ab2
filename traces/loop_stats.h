#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::traces {

// Counts of a loop of a role, or of the whole role.
struct LoopStatistics {
  std::string place;         // "2.1": first loop inside the role's second loop; empty: the role
  uint64_t least_trips = 1;  // minimum over the CTA classes
  uint64_t most_trips = 1;
  uint64_t in_text = 0;  // instructions of its body, each inner loop counted once
  uint64_t issued = 0;   // warp instructions of the whole launch
};

// Returns the role, then its loops in text order, outer loops before inner ones.
std::vector<LoopStatistics> loop_statistics(const Kernel& kernel, const Role& role);

// Demand of the launch on a memory stream.
struct StreamStatistics {
  std::string name;
  bool write = false;
  uint64_t requests = 0;     // warp instructions
  uint64_t l1_requests = 0;  // part of requests that L1 serves
  uint64_t bytes = 0;        // between L2 and the SMs
  uint64_t dram_bytes = 0;   // part of bytes from or to DRAM: first touches, and touches after the data has left L2
};

std::vector<StreamStatistics> stream_statistics(const Kernel& kernel);

// Returns the warp instructions of the whole launch by opcode with modifiers, sorted by name.
std::vector<std::pair<std::string, uint64_t>> issued_by_mnemonic(const Kernel& kernel);

}  // namespace warpfold::traces
