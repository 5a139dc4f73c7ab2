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

// Same values in the same order as configs::IssuePolicy.
enum class IssuePolicy : uint8_t { kCggty, kGto, kLrr, kOldestFirst, kKernelPriority, kGreedyThenLowestSlot, kLowestSlotFirst };

inline constexpr uint32_t kMostSubCores = 8;      // limit of configs/check_gpu.cc
inline constexpr uint32_t kWavefrontBytes = 128;  // bytes of one pass through the data stage

// Parameters of an SM as plain numbers, constant during a run. make_spec computes them from a Gpu message.
// configs/gpu.proto explains the fields; configs/gpus has the source of each value.
struct Spec {
  const isa::Architecture* architecture = nullptr;
  uint32_t sub_cores = 4;  // 1 to kMostSubCores
  uint32_t warp_slots_per_sub_core = 16;
  IssuePolicy issue_policy = IssuePolicy::kCggty;
  uint32_t issue_width = 1;                // most warps that issue in one cycle
  uint32_t issue_interval = 1;             // cycles from one issue to the next; above 1 only if the width is 1
  uint32_t half_read_ports_per_bank = 2;   // 1, 2, 4, 6 or 8; a half port is open in every second cycle
  uint32_t half_write_ports_per_bank = 2;  // 1, 2 or 4
  uint32_t read_window = 3;
  bool register_file_cache = true;
  std::array<uint8_t, isa::kPipes> admission{};  // by pipe: entries in front of the input latch
  std::array<Factor, isa::kPipes> pipe_rate{};
  std::array<Factor, isa::kPipes> pipe_latency{};  // by pipe: of results that a dependence counter announces
  uint32_t memory_queue_entries = 8;
  uint32_t address_generation_interval = 2;
  uint32_t memory_transit = 10;
  uint64_t load_return_milli_bytes_per_clk = 64'000;
  uint32_t memory_issue_interval = 1;    // cycles from one request to the next, at a memory_issue_rate of 1
  uint32_t constant_address_cycles = 1;  // cycles from one address of a constant load to the next, at the same rate
  Factor memory_issue_rate;
  Factor memory_latency;  // of replies that the SM gives by itself: L1, shared memory, constants
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
  uint64_t tcgen05_milli_columns_per_clk = 2'000;         // operands of 16 bits
  uint64_t tcgen05_narrow_milli_columns_per_clk = 2'000;  // operands of 8 bits or fewer
  uint32_t tcgen05_queue_entries = 6;                     // per sub-core
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
  // Atomic additions in L2: the chip's rate of passes of the adders over sectors, and the time from one pass to the
  // next over the same sector. 0: unknown; passes beyond the first over a sector then take no time.
  uint64_t addition_milli_passes_per_clk = 0;
  uint64_t float_addition_milli_cycles = 0;
  uint64_t integer_addition_milli_cycles = 0;
  // Cycles from the moment a transfer has passed L2 and DRAM until its SM learns of it. Derived: at most the shortest
  // load latency less the way to memory (memory_transit) and the widest load's way back to the register file
  // (make_spec.cc).
  uint32_t memory_reply = 1;

  bool operator==(const Spec&) const = default;

  // True if the SM has half ports. A half port opens in every second cycle of the clock, so the SM's state then depends
  // on whether a cycle is even or odd.
  bool half_ports() const { return half_read_ports_per_bank < 2 || half_write_ports_per_bank < 2; }
  // True if the SM has the pipe. The pipes kTcgen05 and kTensorMemory exist only beside tensor memory.
  bool has(isa::Pipe pipe) const {
    return tensor_memory_columns > 0 || (pipe != isa::Pipe::kTcgen05 && pipe != isa::Pipe::kTensorMemory);
  }
  // Returns the cycles for which an m64nN command occupies the tensor cores. `columns`: N.
  uint32_t wgmma_cycles(uint32_t columns) const {
    return static_cast<uint32_t>((uint64_t{columns} * 1000 + wgmma_milli_columns_per_clk - 1) / wgmma_milli_columns_per_clk);
  }
};

}  // namespace warpfold::sim
