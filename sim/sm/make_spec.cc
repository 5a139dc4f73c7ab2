#include "sim/sm/make_spec.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "configs/enum_values.h"
#include "configs/escape/quoted.h"
#include "configs/gpu.pb.h"
#include "configs/resources.h"
#include "isa/architecture.h"

namespace warpfold::sim {
namespace {

uint64_t milli(double value) { return static_cast<uint64_t>(std::llround(value * 1000.0)); }

template <typename Part>
Factor rate_of(const Part& part) {
  return part.has_scale() ? Factor(milli(part.scale())) : Factor();
}
template <typename Part>
Factor latency_of(const Part& part) {
  return part.has_latency_scale() ? Factor(milli(part.latency_scale())) : Factor();
}
uint32_t small(uint64_t number) { return static_cast<uint32_t>(number); }

MemorySpec make_memory_spec(const configs::Gpu& gpu) {
  MemorySpec memory;
  memory.sm_count = gpu.sm_count();
  memory.l2_read_milli_bytes_per_clk = rate_of(gpu.l2()).of(milli(gpu.l2().read_bytes_per_clk()));
  memory.l2_write_milli_bytes_per_clk = rate_of(gpu.l2()).of(milli(gpu.l2().write_bytes_per_clk()));
  memory.l2_dirty_bytes = gpu.l2().dirty_bytes();
  // 1 GB/s at 1 MHz is 1000 bytes a cycle. The efficiency is the achieved share of the pin rate.
  const double dram = gpu.dram().bandwidth_gb_per_s() * 1000.0 / gpu.clock_mhz() * gpu.dram().efficiency_percent() / 100.0;
  memory.dram_milli_bytes_per_clk = rate_of(gpu.dram()).of(milli(dram));
  memory.l2_write_back_bytes = gpu.l2().write_back_bytes();
  memory.dram_queue_bytes = gpu.dram().write_queue_bytes();
  memory.dram_turnaround = static_cast<uint64_t>(std::lround(10 * gpu.dram().turnaround_percent()));
  const Factor network = rate_of(gpu.sm().network());
  memory.ingress_milli_bytes_per_clk = network.thousandths() * gpu.sm().ingress_bytes_per_clk();
  memory.egress_milli_bytes_per_clk = network.thousandths() * gpu.sm().egress_bytes_per_clk();
  // The latency of a DRAM access includes that of a hit in L2. DRAM's scale applies to the difference.
  const auto beyond = [&gpu](uint32_t whole, uint32_t hit) { return latency_of(gpu.dram()).longer(whole - hit); };
  memory.l2_hit_latency = small(latency_of(gpu.l2()).longer(gpu.l2().hit_latency_cycles()));
  memory.dram_latency = small(memory.l2_hit_latency + beyond(gpu.dram().latency_cycles(), gpu.l2().hit_latency_cycles()));
  memory.bulk_hit_latency = small(latency_of(gpu.l2()).longer(gpu.l2().bulk_hit_latency_cycles()));
  memory.bulk_dram_latency =
      small(memory.bulk_hit_latency + beyond(gpu.dram().bulk_latency_cycles(), gpu.l2().bulk_hit_latency_cycles()));
  return memory;
}

Factor factor_at(const configs::Gpu& gpu, std::string_view path) {
  const std::optional<double> factor = path.empty() ? std::nullopt : configs::number_at(gpu, path);
  return factor ? Factor(milli(*factor)) : Factor();
}

// Sets the rates of the issue stage and the math pipes.
void set_pipes(const configs::Gpu& gpu, Spec& spec) {
  for (const isa::PipeRow& row : isa::kMathPipes) {
    const auto pipe = static_cast<size_t>(row.pipe);
    spec.pipe_rate[pipe] = factor_at(gpu, row.rate);
    spec.pipe_latency[pipe] = factor_at(gpu, row.latency);
    if (!row.admission.empty()) spec.admission[pipe] = static_cast<uint8_t>(configs::number_at(gpu, row.admission).value_or(0));
  }
  // Whole numbers or their reciprocals, as configs::check_gpu demands.
  const uint64_t issue = rate_of(gpu.sub_core().issue()).thousandths();
  spec.issue_width = small(std::max<uint64_t>(1, issue / Factor::kOne));
  spec.issue_interval = issue >= Factor::kOne ? 1 : small((Factor::kOne + issue / 2) / issue);
}

void set_tcgen05(const configs::Sm& sm, Spec& spec) {
  if (!sm.tcgen05().has_tensor_memory_columns()) return;
  const configs::Tcgen05& tcgen05 = sm.tcgen05();
  const Factor latency = latency_of(sm.tensor());
  spec.tcgen05_milli_columns_per_clk = rate_of(sm.tensor()).thousandths() * tcgen05.columns_per_clk();
  const uint32_t narrow = tcgen05.narrow_columns_per_clk() != 0 ? tcgen05.narrow_columns_per_clk() : tcgen05.columns_per_clk();
  spec.tcgen05_narrow_milli_columns_per_clk = rate_of(sm.tensor()).thousandths() * narrow;
  spec.tcgen05_queue_entries = tcgen05.queue_entries_per_sub_core();
  spec.tcgen05_completion = small(latency.longer(tcgen05.completion_cycles()));
  spec.tcgen05_pair_completion = small(latency.longer(tcgen05.pair_completion_cycles()));
  spec.tcgen05_rows_per_a_wavefront = tcgen05.rows_per_a_wavefront();
  spec.tcgen05_columns_per_b_wavefront = tcgen05.columns_per_b_wavefront();
  spec.tensor_memory_columns = tcgen05.tensor_memory_columns();
}

void set_instruction_cache(const configs::Sm& sm, Spec& spec) {
  const configs::InstructionCache& cache = sm.instruction_cache();
  if (!cache.has_bytes()) return;
  spec.instruction_cache_bytes = cache.bytes();
  spec.instruction_line_bytes = cache.line_bytes();
  spec.instruction_line_cycles = cache.line_cycles();
}

// Sets the capacities that CTAs share, and the entries of the memory queues.
void set_capacities(const configs::SubCore& sub_core, const configs::Sm& sm, Spec& spec) {
  spec.registers = sm.registers();
  spec.register_allocation_unit = sm.register_allocation_unit();
  spec.warp_slots_per_sub_core = sub_core.warp_slots();
  spec.warp_slots = sm.warp_slots();
  spec.cta_slots = sm.cta_slots();
  spec.shared_memory_bytes = sm.shared_memory().bytes();
  spec.shared_memory_reserved_per_cta = sm.shared_memory().reserved_bytes_per_cta();
  spec.shared_memory_allocation = sm.shared_memory().allocation_bytes();
  spec.shared_memory_per_cta_max = sm.shared_memory().bytes_per_cta_max();
  spec.memory_queue_entries = sub_core.memory_queue_entries();
  spec.memory_credits = sm.memory_credits();
}

// Derives Spec::memory_reply. The widest load returns eight registers of 32 bits to each thread (LDG.E.256, PTX ISA
// 8.8, "ld").
uint32_t memory_reply(const Spec& spec) {
  // fitted: a credit's way back through the crossbar, of which no measurement is published. 64 was chosen of 16, 32,
  // 64, 128 and all cycles, by the IPC of two decode CTAs on an H200 and by the decode rows, which are therefore no
  // test of it (docs/decisions/0037-quanta.md).
  constexpr uint64_t kCredit = 64;
  constexpr uint64_t kWidestMilliBytes = 8 * 128 * 1000;
  const MemorySpec& memory = spec.memory;
  const uint32_t load = std::min(memory.l2_hit_latency, memory.dram_latency);
  const uint64_t way = spec.memory_transit + (kWidestMilliBytes - 1) / spec.load_return_milli_bytes_per_clk + 1;
  const uint64_t left = load > way ? load - way : 1;
  uint64_t reply = std::min(kCredit, left);
  for (const uint32_t bulk : {memory.bulk_hit_latency, memory.bulk_dram_latency}) {
    if (bulk > 0) reply = std::min<uint64_t>(reply, bulk);  // 0: the GPU has no bulk copies
  }
  return static_cast<uint32_t>(reply);
}

}  // namespace

Expected<Spec> make_spec(const configs::Gpu& described) {
  const configs::Gpu gpu = configs::with_scaled_capacities(described);
  const auto architecture = isa::Architecture::find(gpu.architecture());
  if (!architecture) return std::unexpected(architecture.error());
  const auto& sub_core = gpu.sub_core();
  const auto& sm = gpu.sm();
  const auto& tensor = sm.tensor();
  Spec spec;
  spec.architecture = *architecture;
  spec.sub_cores = sm.sub_cores();
  static_assert(configs::IssuePolicy_ARRAYSIZE == enum_size<IssuePolicy>(), "IssuePolicy counts as configs::IssuePolicy");
  spec.issue_policy = static_cast<IssuePolicy>(sub_core.issue_policy());
  spec.half_read_ports_per_bank = small(rate_of(sub_core.register_read()).of(uint64_t{2} * sub_core.read_ports_per_bank()));
  spec.half_write_ports_per_bank = small(rate_of(sub_core.register_write()).of(2));
  set_pipes(gpu, spec);
  spec.read_window = sub_core.read_window_cycles();
  spec.register_file_cache = sub_core.register_file_cache();
  spec.memory_issue_rate = rate_of(sm.memory_io());
  spec.address_generation_interval = small(spec.memory_issue_rate.at_rate(sub_core.address_generation_interval_cycles()));
  spec.memory_transit = sub_core.memory_transit_cycles();
  spec.load_return_milli_bytes_per_clk = rate_of(sub_core.load_return()).thousandths() * sub_core.load_return_bytes_per_clk();
  spec.memory_issue_interval = sm.memory_issue_interval_cycles();
  spec.constant_address_cycles =
      sm.has_constant_address_cycles() ? sm.constant_address_cycles() : sm.memory_issue_interval_cycles();
  set_capacities(sub_core, sm, spec);
  spec.data_stage_rate = Factor(rate_of(sm.shared_memory()).thousandths() * sm.shared_memory().bytes_per_clk() / kWavefrontBytes);
  spec.memory_latency = latency_of(sm.shared_memory());
  spec.wgmma_milli_columns_per_clk = rate_of(tensor).thousandths() * tensor.wgmma_columns_per_clk();
  spec.wgmma_fifo_entries = tensor.wgmma_fifo_entries();
  spec.wgmma_completion = small(latency_of(tensor).longer(tensor.wgmma_completion_cycles()));
  spec.wgmma_completion_rs = small(latency_of(tensor).longer(tensor.wgmma_completion_a_in_registers_cycles()));
  spec.wgmma_floor = tensor.wgmma_command_floor_cycles();
  spec.wgmma_a_wavefronts = tensor.wgmma_a_wavefronts();
  spec.wgmma_columns_per_b_wavefront = tensor.wgmma_columns_per_b_wavefront();
  set_tcgen05(sm, spec);
  set_instruction_cache(sm, spec);
  spec.commit_window = tensor.accumulator_commit_window_cycles();
  spec.commit_reads = tensor.accumulator_commit_reads();
  spec.pairs_before_wide_result = tensor.accumulator_pairs_before_wide_result();
  const Factor barriers = latency_of(sm.barriers());
  spec.barrier_latency = small(barriers.longer(sm.barrier_latency_cycles()));
  spec.mbarrier_latency = small(barriers.longer(sm.mbarrier_latency_cycles()));
  spec.bulk_copy_issue = small(rate_of(sm.bulk_copy()).at_rate(sm.bulk_copy_issue_cycles()));
  const Factor launch = latency_of(gpu.launch());
  spec.cta_launch = small(launch.longer(sm.cta_launch_cycles()));
  spec.cta_turnaround = small(launch.longer(sm.cta_turnaround_cycles()));
  spec.kernel_launch = small(launch.longer(gpu.kernel_launch_cycles()));
  spec.memory = make_memory_spec(gpu);
  spec.addition_milli_passes_per_clk = rate_of(gpu.l2()).of(milli(gpu.l2().addition_passes_per_clk()));
  spec.float_addition_milli_cycles = milli(gpu.l2().float_addition_cycles());
  spec.integer_addition_milli_cycles = milli(gpu.l2().integer_addition_cycles());
  spec.memory_reply = memory_reply(spec);
  // Servers keep time in units of 1/rate. A rate outside these bounds would lose bytes or exceed 64 bits.
  for (const uint64_t rate :
       {spec.memory.l2_read_milli_bytes_per_clk, spec.memory.l2_write_milli_bytes_per_clk, spec.memory.dram_milli_bytes_per_clk}) {
    if (rate >= 1000 && rate <= 1'000'000'000) continue;
    return fail("GPU " + escape::quoted(gpu.name()) + ": L2 and DRAM must move between 1 and 1,000,000 bytes a cycle, not " +
                std::to_string(rate / 1000) + " (DRAM: bandwidth_gb_per_s x efficiency_percent / clock_mhz)");
  }
  return spec;
}

}  // namespace warpfold::sim
