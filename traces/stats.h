#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/pipe.h"
#include "traces/kernel.h"

namespace warpfold::traces {

// True if CTAs of the kernel wait for each other at a barrier of the grid (Effect::barrier of RED and ATOM).
bool meets_in_grid(const Kernel& kernel);

// Returns the instructions in the text of a body, each loop body counted once.
uint64_t static_instructions(std::span<const Node> body);

struct InstructionCount {
  uint64_t in_text = 0;  // instructions in the program text of one warp, each loop body counted once
  uint64_t issued = 0;   // warp instructions of the whole launch
  bool operator==(const InstructionCount&) const = default;
};

struct OpcodeCount {
  std::string name;  // row of the opcode table
  InstructionCount instructions;
};

// Activity of the warps of one role over the whole launch.
struct RoleStatistics {
  std::string name;
  uint32_t warps = 0;  // per CTA
  InstructionCount instructions;
  std::array<InstructionCount, isa::kPipes> pipes{};  // by isa::Pipe
  std::vector<OpcodeCount> opcodes;                   // opcodes that occur, most issued first
  uint64_t register_reads = 0;   // 32-bit registers of a warp that issued instructions name as sources, without RZ
  uint64_t register_writes = 0;  // likewise for destinations
  int loop_depth = 0;            // greatest nesting of loops
  uint64_t bytes_read = 0;       // moved from L2 to the SM; for a multicast load, this CTA's share of the bytes that L2 serves
  uint64_t bytes_written = 0;    // moved from the SM to L2
};

struct KernelStatistics {
  std::string name;
  uint64_t ctas = 0;
  InstructionCount instructions;  // sum over the roles
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  std::vector<RoleStatistics> roles;
};

// Returns counts of a valid kernel, from its text and trip counts alone.
KernelStatistics statistics(const Kernel& kernel);

}  // namespace warpfold::traces
