#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "configs/enum_values.h"
#include "configs/pipes.h"

namespace warpfold::sim {

// State of a resident warp in a cycle: exactly one of these, under the names of Nsight Compute.
enum class WarpState : uint8_t {
  kSelected,          // issued an instruction
  kWait,              // fixed stall count of the previous instruction
  kNotSelected,       // eligible, but the sub-core issued another warp
  kDispatchStall,     // allocate stage blocked by register read or write ports
  kMathPipeThrottle,  // input latch of the pipe taken, or queue of wgmma or tcgen05 full
  kMioThrottle,       // memory queue full (shared memory, shuffles, mbarriers)
  kLgThrottle,        // memory queue full (global memory)
  kShortScoreboard,   // dependence on shared memory, MUFU or mbarrier
  kLongScoreboard,    // dependence on global memory
  kBarrier,           // CTA barrier
  kGmma,              // outstanding wgmma groups
  kNoInstruction,     // instruction cache miss (the cache is perfect here: always 0)
  kBranchResolving,   // branch target not resolved
  kSleeping,          // NANOSLEEP
  kDrain,             // exited, with stores outstanding or other warps of its CTA still running
};
inline constexpr int kWarpStates = enum_size<WarpState>();
std::string_view state_name(WarpState state);  // "selected", "wait", ...

// Resources for which kernels compete.
enum class Contended : uint8_t {
  kIssueSlot,
  // Math pipes of a sub-core, all before kWgmma. kTensor executes mma.sync.
  kAlu,
  kFmaHeavy,
  kFmaLite,
  kFp64,
  kXu,
  kTensor,
  kUniform,
  kFp16,
  kTensorMemory,  // path of a sub-core to tensor memory
  kWgmma,         // asynchronous tensor pipe of the SM
  kTcgen05,       // asynchronous tensor pipe of architectures with tensor memory
  kRegisterReadPort,
  kRegisterWritePort,
  kMemoryQueue,   // memory queue of the sub-core and the stage shared by the SM
  kSharedMemory,  // data stage of shared memory and L1
  kLoadReturn,    // return path of a sub-core from L1 to the register file
  kBulkCopy,      // bulk copy engine: acceptance of copies
  kSmIngress,     // network port of the SM, bytes read
  kSmEgress,      // network port of the SM, bytes written
  kL2Read,
  kL2Write,
  kDram,
  // Capacity that CTAs occupy while they are resident.
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

// Resource that a warp waits for when it waits for a pipe, by configs::Pipe. The build fails if a row of the pipe table
// names a resource outside Contended.
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
