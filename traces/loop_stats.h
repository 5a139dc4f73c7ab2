#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traces/kernel.h"

namespace warpfold::traces {

// A loop of a role, or the role itself around them.
struct LoopStatistics {
  std::string place;         // "2.1": the first loop in the role's second; empty: the role
  uint64_t least_trips = 1;  // over the CTA classes
  uint64_t most_trips = 1;
  uint64_t in_text = 0;  // instructions of its body, loops inside once
  uint64_t issued = 0;   // by all warps of the launch
};

// The role, then its loops in the order of the text, outer ones before inner ones.
std::vector<LoopStatistics> loop_statistics(const Kernel& kernel, const Role& role);

// What the launch asks of a memory stream.
struct StreamStatistics {
  std::string name;
  bool write = false;
  uint64_t requests = 0;     // warp instructions
  uint64_t l1_requests = 0;  // of them, served by L1
  uint64_t bytes = 0;        // between L2 and the SMs
  uint64_t dram_bytes = 0;   // of them, from or to DRAM: what is touched for the first time, or again after it left L2
};

std::vector<StreamStatistics> stream_statistics(const Kernel& kernel);

// By opcode with its modifiers: warp instructions of the whole launch, in the order of the names.
std::vector<std::pair<std::string, uint64_t>> issued_by_mnemonic(const Kernel& kernel);

}  // namespace warpfold::traces
