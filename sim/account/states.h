#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "configs/enum_values.h"
#include "configs/pipes.h"

namespace warpfold::sim {

// Where a resident warp spends a cycle: exactly one of these, named as Nsight Compute names them.
enum class WarpState : uint8_t {
  kSelected,          // issued an instruction
  kWait,              // fixed stall count of the previous instruction
  kNotSelected,       // eligible, the sub-core issued another warp
  kDispatchStall,     // the allocate stage was held: register read ports
  kMathPipeThrottle,  // the pipe's input latch (or the queue of wgmma or tcgen05) was taken
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
inline constexpr int kWarpStates = enum_size<WarpState>();
std::string_view state_name(WarpState state);  // "selected", "wait", ...

// What kernels can take from each other.
enum class Contended : uint8_t {
  kIssueSlot,
  // Math pipes of a sub-core, all before kWgmma (tensor: mma.sync).
  kAlu,
  kFmaHeavy,
  kFmaLite,
  kFp64,
  kXu,
  kTensor,
  kUniform,
  kFp16,
  kTensorMemory,  // a sub-core's path to tensor memory
  kWgmma,         // the SM's asynchronous tensor pipe
  kTcgen05,       // the same, of architectures with tensor memory
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
  kTensorMemoryCapacity,
  kWarpSlots,
  kCtaSlots,
};
inline constexpr int kContended = enum_size<Contended>();
inline constexpr auto kContendedNames = by_enum<Contended, std::string_view>({
    {Contended::kIssueSlot, "issue_slot"},
    {Contended::kAlu, "alu"},
    {Contended::kFmaHeavy, "fma_heavy"},
    {Contended::kFmaLite, "fma_lite"},
    {Contended::kFp64, "fp64"},
    {Contended::kXu, "xu"},
    {Contended::kTensor, "tensor"},
    {Contended::kUniform, "uniform"},
    {Contended::kFp16, "fp16"},
    {Contended::kTensorMemory, "tensor_memory"},
    {Contended::kWgmma, "wgmma"},
    {Contended::kTcgen05, "tcgen05"},
    {Contended::kRegisterReadPort, "register_read_port"},
    {Contended::kRegisterWritePort, "register_write_port"},
    {Contended::kMemoryQueue, "memory_queue"},
    {Contended::kSharedMemory, "shared_memory"},
    {Contended::kLoadReturn, "load_return"},
    {Contended::kBulkCopy, "bulk_copy"},
    {Contended::kSmIngress, "sm_ingress"},
    {Contended::kSmEgress, "sm_egress"},
    {Contended::kL2Read, "l2_read"},
    {Contended::kL2Write, "l2_write"},
    {Contended::kDram, "dram"},
    {Contended::kRegisters, "registers"},
    {Contended::kSharedMemoryCapacity, "shared_memory_capacity"},
    {Contended::kTensorMemoryCapacity, "tensor_memory_capacity"},
    {Contended::kWarpSlots, "warp_slots"},
    {Contended::kCtaSlots, "cta_slots"},
});

constexpr std::string_view contended_name(Contended resource) { return kContendedNames[static_cast<size_t>(resource)]; }

// What a warp lacks that waits for a pipe, by configs::Pipe. The build stops here where a pipe's row names something else.
inline constexpr auto kContendedPipe = [] {
  std::array<Contended, configs::kPipes> resources{};
  for (const configs::PipeRow& row : configs::kPipeTable) {
    const auto* const at = std::ranges::find(kContendedNames, row.contended);
    if (at == kContendedNames.end()) throw "a pipe's contended resource is none of Contended";
    resources[static_cast<size_t>(row.pipe)] = static_cast<Contended>(at - kContendedNames.begin());
  }
  return resources;
}();

}  // namespace warpfold::sim
