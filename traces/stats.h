#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/pipe.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// Instructions of a body's text, loop bodies once.
uint64_t static_instructions(std::span<const Node> body);

struct InstructionCount {
  uint64_t in_text = 0;  // instructions in the program text of one warp, loop bodies once
  uint64_t issued = 0;   // warp instructions of the whole launch
  bool operator==(const InstructionCount&) const = default;
};

struct OpcodeCount {
  std::string name;  // row of the opcode table
  InstructionCount instructions;
};

// What the warps of one role do over the whole launch.
struct RoleStatistics {
  std::string name;
  uint32_t warps = 0;  // per CTA
  InstructionCount instructions;
  std::array<InstructionCount, isa::kPipes> pipes{};  // by isa::Pipe
  std::vector<OpcodeCount> opcodes;                   // those that occur, most issued first
  uint64_t register_reads = 0;   // 32-bit registers of a warp that issued instructions name as sources, RZ left out
  uint64_t register_writes = 0;  // the same for destinations
  int loop_depth = 0;            // loops inside each other, at most
  uint64_t bytes_read = 0;       // moved from L2 to the SM; of a multicast load, this CTA's share of what L2 serves
  uint64_t bytes_written = 0;    // moved from the SM to L2
};

struct KernelStatistics {
  std::string name;
  uint64_t ctas = 0;
  InstructionCount instructions;  // all roles together
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  std::vector<RoleStatistics> roles;
};

// Counts of a valid kernel, from its text and trip counts alone.
KernelStatistics statistics(const Kernel& kernel);

}  // namespace warpfold::traces
