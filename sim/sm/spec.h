#pragma once

#include <array>
#include <cstdint>

#include "isa/pipe.h"
#include "sim/engine/factor.h"
#include "sim/memory/memory_spec.h"

namespace warpfold::isa {
class Architecture;
}

namespace warpfold::sim {

// As configs::IssuePolicy.
enum class IssuePolicy : uint8_t { kCggty, kGto, kLrr, kOldestFirst, kKernelPriority, kGreedyThenLowestSlot, kLowestSlotFirst };

inline constexpr uint32_t kMostSubCores = 8;      // configs/check_gpu.cc
inline constexpr uint32_t kWavefrontBytes = 128;  // of a pass through shared memory's data stage

// One SM as plain numbers: the immutable part of the machine. make_spec compiles it from a Gpu message; field meanings and sources
// are in configs/gpu.proto and configs/gpus.
struct Spec {
  const isa::Architecture* architecture = nullptr;
  uint32_t sub_cores = 4;  // 1 to kMostSubCores
  uint32_t warp_slots_per_sub_core = 16;
  IssuePolicy issue_policy = IssuePolicy::kCggty;
  uint32_t issue_width = 1;                // warps that issue in one cycle
  uint32_t issue_interval = 1;             // cycles between two issues; above 1 only where the width is 1
  uint32_t half_read_ports_per_bank = 2;   // 1, 2, 4, 6 or 8: half a port is open every second cycle
  uint32_t half_write_ports_per_bank = 2;  // 1, 2 or 4
  uint32_t read_window = 3;
  bool register_file_cache = true;
  std::array<uint8_t, isa::kPipes> admission{};  // entries in front of each pipe's input latch
  std::array<Factor, isa::kPipes> pipe_rate{};
  std::array<Factor, isa::kPipes> pipe_latency{};  // of results that dependence counters announce
  uint32_t memory_queue_entries = 8;
  uint32_t address_generation_interval = 2;
  uint32_t memory_transit = 10;
  uint64_t load_return_milli_bytes_per_clk = 64'000;
  uint32_t memory_issue_interval = 1;    // at a memory_issue_rate of one
  uint32_t constant_address_cycles = 1;  // the same: from one address of a constant load to the next
  Factor memory_issue_rate;
  Factor memory_latency;  // of what the SM's memory stage answers by itself
  uint32_t memory_credits = 30;
  uint32_t registers = 65536;
  uint32_t register_allocation_unit = 256;
  uint32_t warp_slots = 64;
  uint32_t cta_slots = 32;
  uint32_t shared_memory_bytes = 0;
  uint32_t shared_memory_reserved_per_cta = 0;
  uint32_t shared_memory_allocation = 128;
  uint32_t shared_memory_per_cta_max = 0;
  Factor data_stage_rate;  // wavefronts a cycle
  uint64_t wgmma_milli_columns_per_clk = 2'000;
  uint32_t wgmma_fifo_entries = 7;
  uint32_t wgmma_completion = 49;
  uint32_t wgmma_completion_rs = 31;
  uint32_t wgmma_floor = 12;
  uint32_t wgmma_a_wavefronts = 16;
  uint32_t wgmma_columns_per_b_wavefront = 4;
  uint64_t tcgen05_milli_columns_per_clk = 2'000;         // of operands of 16 bits
  uint64_t tcgen05_narrow_milli_columns_per_clk = 2'000;  // of fewer
  uint32_t tcgen05_queue_entries = 6;                     // of a sub-core
  uint32_t tcgen05_completion = 84;
  uint32_t tcgen05_pair_completion = 118;
  uint32_t tcgen05_rows_per_a_wavefront = 4;
  uint32_t tcgen05_columns_per_b_wavefront = 4;
  uint32_t tensor_memory_columns = 0;
  uint32_t instruction_cache_bytes = 0;  // 0: every instruction hits
  uint32_t instruction_line_bytes = 128;
  uint32_t instruction_line_cycles = 0;
  uint32_t commit_window = 12;
  uint32_t commit_reads = 3;
  uint32_t pairs_before_wide_result = 0;
  uint32_t barrier_latency = 20;
  uint32_t mbarrier_latency = 20;
  uint32_t bulk_copy_issue = 48;
  uint32_t cta_launch = 0;
  uint32_t cta_turnaround = 0;
  uint32_t kernel_launch = 0;
  MemorySpec memory;
  // Additions in L2: passes over sectors of the whole chip, and from one pass to the next over the same sector. 0: not known.
  uint64_t addition_milli_passes_per_clk = 0;
  uint64_t float_addition_milli_cycles = 0;
  uint64_t integer_addition_milli_cycles = 0;
  // Cycles after a transfer has passed L2 and DRAM before its SM learns of it: what is left of the shortest latency when requests
  // have reached memory and loads need the way back to the register file. Derived.
  uint32_t memory_reply = 1;

  bool operator==(const Spec&) const = default;

  // Half a port is open in every second cycle: of the clock, not of a run.
  bool half_ports() const { return half_read_ports_per_bank < 2 || half_write_ports_per_bank < 2; }
  // Pipes of tensor memory are those of the SMs that have one.
  bool has(isa::Pipe pipe) const {
    return tensor_memory_columns > 0 || (pipe != isa::Pipe::kTcgen05 && pipe != isa::Pipe::kTensorMemory);
  }
  // Tensor core time of an m64nN command.
  uint32_t wgmma_cycles(uint32_t columns) const {
    return static_cast<uint32_t>((uint64_t{columns} * 1000 + wgmma_milli_columns_per_clk - 1) / wgmma_milli_columns_per_clk);
  }
};

}  // namespace warpfold::sim
