#include "sim/sm/spec.h"

#include <cmath>
#include <string>

#include "configs/gpu.pb.h"

namespace warpfold::sim {
namespace {

uint64_t milli(double value) { return static_cast<uint64_t>(std::llround(value * 1000.0)); }

MemorySpec make_memory_spec(const configs::Gpu& gpu) {
  MemorySpec memory;
  memory.sm_count = gpu.sm_count();
  memory.l2_read_milli_bytes_per_clk = milli(gpu.l2().read_bytes_per_clk());
  memory.l2_write_milli_bytes_per_clk = milli(gpu.l2().write_bytes_per_clk());
  memory.l2_dirty_bytes = gpu.l2().dirty_bytes();
  // GB/s over MHz is 1000 bytes a cycle; the efficiency is the achieved share of the pin rate.
  const double dram = gpu.dram().bandwidth_gb_per_s() * 1000.0 / gpu.clock_mhz() * gpu.dram().efficiency_percent() / 100.0;
  memory.dram_milli_bytes_per_clk = milli(dram);
  memory.ingress_bytes_per_clk = gpu.sm().ingress_bytes_per_clk();
  memory.egress_bytes_per_clk = gpu.sm().egress_bytes_per_clk();
  memory.l2_hit_latency = gpu.l2().hit_latency_cycles();
  memory.dram_latency = gpu.dram().latency_cycles();
  memory.bulk_hit_latency = gpu.l2().bulk_hit_latency_cycles();
  memory.bulk_dram_latency = gpu.dram().bulk_latency_cycles();
  return memory;
}

}  // namespace

Expected<Spec> make_spec(const configs::Gpu& gpu) {
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const auto& sub_core = gpu.sub_core();
  const auto& sm = gpu.sm();
  const auto& tensor = sm.tensor();
  Spec spec;
  spec.architecture = *architecture;
  spec.sub_cores = sm.sub_cores();
  spec.warp_slots_per_sub_core = sub_core.warp_slots();
  spec.issue_policy = static_cast<IssuePolicy>(sub_core.issue_policy());
  spec.read_ports_per_bank = sub_core.read_ports_per_bank();
  spec.read_window = sub_core.read_window_cycles();
  spec.register_file_cache = sub_core.register_file_cache();
  spec.admission[static_cast<int>(isa::Pipe::kAlu)] = static_cast<uint8_t>(sub_core.alu_admission_entries());
  spec.admission[static_cast<int>(isa::Pipe::kFmaHeavy)] = static_cast<uint8_t>(sub_core.fma_heavy_admission_entries());
  spec.admission[static_cast<int>(isa::Pipe::kFp64)] = static_cast<uint8_t>(sub_core.fp64_admission_entries());
  spec.admission[static_cast<int>(isa::Pipe::kXu)] = static_cast<uint8_t>(sub_core.xu_admission_entries());
  spec.memory_queue_entries = sub_core.memory_queue_entries();
  spec.address_generation_interval = sub_core.address_generation_interval_cycles();
  spec.memory_transit = sub_core.memory_transit_cycles();
  spec.load_return_bytes_per_clk = sub_core.load_return_bytes_per_clk();
  spec.memory_issue_interval = sm.memory_issue_interval_cycles();
  spec.memory_credits = sm.memory_credits();
  spec.registers = sm.registers();
  spec.register_allocation_unit = sm.register_allocation_unit();
  spec.warp_slots = sm.warp_slots();
  spec.cta_slots = sm.cta_slots();
  spec.shared_memory_bytes = sm.shared_memory().bytes();
  spec.shared_memory_reserved_per_cta = sm.shared_memory().reserved_bytes_per_cta();
  spec.shared_memory_allocation = sm.shared_memory().allocation_bytes();
  spec.shared_memory_per_cta_max = sm.shared_memory().bytes_per_cta_max();
  spec.wgmma_columns_per_clk = tensor.wgmma_columns_per_clk();
  spec.wgmma_fifo_entries = tensor.wgmma_fifo_entries();
  spec.wgmma_completion = tensor.wgmma_completion_cycles();
  spec.wgmma_completion_rs = tensor.wgmma_completion_a_in_registers_cycles();
  spec.wgmma_floor = tensor.wgmma_command_floor_cycles();
  spec.wgmma_a_wavefronts = tensor.wgmma_a_wavefronts();
  spec.wgmma_columns_per_b_wavefront = tensor.wgmma_columns_per_b_wavefront();
  spec.commit_window = tensor.accumulator_commit_window_cycles();
  spec.commit_reads = tensor.accumulator_commit_reads();
  spec.barrier_latency = sm.barrier_latency_cycles();
  spec.mbarrier_latency = sm.mbarrier_latency_cycles();
  spec.bulk_copy_issue = sm.bulk_copy_issue_cycles();
  spec.cta_launch = sm.cta_launch_cycles();
  spec.cta_turnaround = sm.cta_turnaround_cycles();
  spec.kernel_launch = gpu.kernel_launch_cycles();
  spec.memory = make_memory_spec(gpu);
  // Time is kept in units of 1/rate: rates outside would lose bytes or run out of 64 bits.
  for (const uint64_t rate :
       {spec.memory.l2_read_milli_bytes_per_clk, spec.memory.l2_write_milli_bytes_per_clk, spec.memory.dram_milli_bytes_per_clk}) {
    if (rate >= 1000 && rate <= 1'000'000'000) continue;
    return fail("GPU '" + gpu.name() + "': L2 and DRAM must move between 1 and 1,000,000 bytes a cycle, not " +
                std::to_string(rate / 1000) + " (DRAM: bandwidth_gb_per_s x efficiency_percent / clock_mhz)");
  }
  return spec;
}

}  // namespace warpfold::sim
