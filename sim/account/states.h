#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace warpfold::sim {

// Where a resident warp spends a cycle: exactly one of these, named as Nsight Compute names them.
enum class WarpState : uint8_t {
  kSelected,          // issued an instruction
  kWait,              // fixed stall count of the previous instruction
  kNotSelected,       // eligible, the sub-core issued another warp
  kDispatchStall,     // the allocate stage was held: register read ports
  kMathPipeThrottle,  // the pipe's input latch (or the wgmma FIFO) was taken
  kMioThrottle,       // memory-I/O queue full (shared memory, shuffles, mbarriers)
  kLgThrottle,        // memory-I/O queue full (global memory)
  kShortScoreboard,   // dependence on shared memory, MUFU, mbarrier
  kLongScoreboard,    // dependence on global memory
  kBarrier,           // CTA barrier
  kGmma,              // outstanding wgmma groups
  kNoInstruction,     // instruction cache (perfect here: always 0)
  kBranchResolving,   // branch target
  kSleeping,          // NANOSLEEP
  kDrain,             // exited, stores outstanding; or waiting for the rest of its CTA
};
inline constexpr int kWarpStates = 15;
std::string_view state_name(WarpState state);  // "selected", "wait", ...

// What kernels can take from each other.
enum class Contended : uint8_t {
  kIssueSlot,
  kAlu,
  kFmaHeavy,
  kFmaLite,
  kFp64,
  kXu,
  kTensor,
  kUniform,
  kFp16,   // math pipes (tensor: mma.sync)
  kWgmma,  // the SM's asynchronous tensor pipe
  kRegisterReadPort,
  kRegisterWritePort,
  kMemoryQueue,   // sub-core memory-I/O queue and the SM-shared stage
  kSharedMemory,  // data stage
  kLoadReturn,    // a sub-core's way back from L1 to the register file
  kBulkCopy,      // bulk copy engine: taking up copies
  kSmIngress,     // network port of the SM, bytes that it reads
  kSmEgress,      // the same, bytes that it writes
  kL2Read,
  kL2Write,
  kDram,
  // What CTAs occupy for as long as they are there.
  kRegisters,
  kSharedMemoryCapacity,
  kWarpSlots,
  kCtaSlots,
};
inline constexpr int kContended = 25;
std::string_view contended_name(Contended resource);  // "issue_slot", "alu", ...

}  // namespace warpfold::sim
