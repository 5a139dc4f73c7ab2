#include <array>
#include <cmath>
#include <sstream>
#include <string_view>

#include "configs/check.h"
#include "configs/escape/quoted.h"
#include "configs/load.h"
#include "configs/resources.h"

namespace warpfold::configs {

namespace {

enum class Needed {
  kAlways,
  kWithBulkCopies,    // bulk copies and mbarriers: architectures from sm_90 on
  kWithWgmma,         // sm_90 alone: later ones multiply in other ways
  kWithTensorMemory,  // GPUs that state sm.tcgen05.tensor_memory_columns
  kWithPower,         // GPUs that state a power model
  kNever,             // left out, it is 0 or not known
};

// The range of a number. Upper limits are no claim about hardware. A limit with a reason beside it is a capacity of the
// machine's structures. Any other limit is far above every chip, and keeps a typing error from becoming a run that
// never ends.
struct Limit {
  std::string_view path;
  double least;
  double most;
  Needed needed = Needed::kAlways;
};

constexpr double kMany = 1e6;
constexpr Needed kBulk = Needed::kWithBulkCopies;
constexpr Needed kWgmma = Needed::kWithWgmma;
constexpr Needed kTensorMemory = Needed::kWithTensorMemory;
constexpr Needed kPower = Needed::kWithPower;

constexpr std::array kLimits{
    Limit{"sm_count", 1, 4096},
    Limit{"clock_mhz", 1, 1e5},
    Limit{"kernel_launch_cycles", 0, kMany},
    Limit{"graph_launch_cycles", 0, kMany, Needed::kNever},
    Limit{"programmatic_launch_cycles", 0, kMany, Needed::kNever},
    Limit{"timed_launch_us", 0, 1e3, Needed::kNever},
    Limit{"sub_core.warp_slots", 1, 32},          // bits of a mask
    Limit{"sub_core.read_ports_per_bank", 1, 4},  // masks of reservations
    Limit{"sub_core.read_window_cycles", 1, 16},
    Limit{"sub_core.memory_queue_entries", 1, 64},
    Limit{"sub_core.address_generation_interval_cycles", 1, 64},
    Limit{"sub_core.memory_transit_cycles", 0, 1024},
    Limit{"sub_core.load_return_bytes_per_clk", 1, 4096},
    Limit{"sub_core.alu_admission_entries", 0, 15, Needed::kNever},        // a pipe remembers its last 16 instructions
    Limit{"sub_core.fma_heavy_admission_entries", 0, 15, Needed::kNever},  // the same
    Limit{"sub_core.fp64_admission_entries", 0, 15, Needed::kNever},       // the same
    Limit{"sub_core.xu_admission_entries", 0, 15, Needed::kNever},         // the same
    Limit{"sm.sub_cores", 1, 8},                                           // kMostSubCores (sim/sm/spec.h)
    Limit{"sm.registers", 1, 1 << 24},
    Limit{"sm.register_allocation_unit", 1, 1 << 16},
    Limit{"sm.warp_slots", 1, 256},
    Limit{"sm.cta_slots", 1, 256},
    Limit{"sm.data_memory_bytes", 0, 1 << 28},
    Limit{"sm.shared_memory.bytes", 0, 1 << 28},
    Limit{"sm.shared_memory.bytes_per_cta_max", 0, 1 << 28},
    Limit{"sm.shared_memory.reserved_bytes_per_cta", 0, 1 << 20},
    Limit{"sm.shared_memory.allocation_bytes", 1, 1 << 20},
    Limit{"sm.shared_memory.bytes_per_clk", 16, 1024},  // an eighth of a wavefront to eight
    Limit{"sm.memory_issue_interval_cycles", 1, 64},
    Limit{"sm.constant_address_cycles", 1, 64, Needed::kNever},  // as memory_issue_interval_cycles
    Limit{"sm.memory_credits", 1, 1024},
    Limit{"sm.tensor.wgmma_columns_per_clk", 1, 1024, kWgmma},
    Limit{"sm.tensor.wgmma_fifo_entries", 1, 16, kWgmma},                       // commands that a warpgroup may have open
    Limit{"sm.tensor.wgmma_completion_cycles", 0, 512, kWgmma},                 // with a command every 10 cycles: 64 in flight hold
    Limit{"sm.tensor.wgmma_completion_a_in_registers_cycles", 0, 512, kWgmma},  // the same
    Limit{"sm.tensor.wgmma_command_floor_cycles", 10, 1024, kWgmma},            // the same
    Limit{"sm.tensor.wgmma_a_wavefronts", 0, 1024, kWgmma},
    Limit{"sm.tensor.wgmma_columns_per_b_wavefront", 1, 1024, kWgmma},
    Limit{"sm.tensor.accumulator_commit_window_cycles", 1, 1024, kWgmma},
    Limit{"sm.tensor.accumulator_commit_reads", 0, 1024, kWgmma},
    Limit{"sm.tensor.accumulator_pairs_before_wide_result", 0, 16, kWgmma},  // a warp's timer reaches 64 cycles ahead
    Limit{"sm.tcgen05.columns_per_clk", 1, 1024, kTensorMemory},
    Limit{"sm.tcgen05.narrow_columns_per_clk", 0, 1024, Needed::kNever},
    Limit{"sm.tcgen05.queue_entries_per_sub_core", 1, 16, kTensorMemory},  // check_consistency bounds the sum
    Limit{"sm.tcgen05.completion_cycles", 0, kMany, kTensorMemory},
    Limit{"sm.tcgen05.pair_completion_cycles", 0, kMany, kTensorMemory},
    Limit{"sm.tcgen05.rows_per_a_wavefront", 1, 1024, kTensorMemory},
    Limit{"sm.tcgen05.columns_per_b_wavefront", 1, 1024, kTensorMemory},
    Limit{"sm.tcgen05.tensor_memory_columns", 32, 1 << 20, kTensorMemory},
    Limit{"sm.instruction_cache.bytes", 128, 1 << 28, Needed::kNever},
    Limit{"sm.instruction_cache.line_bytes", 16, 1 << 12, Needed::kNever},
    Limit{"sm.instruction_cache.line_cycles", 1, 240, Needed::kNever},  // a stall of 8 bits
    Limit{"sm.barrier_latency_cycles", 0, kMany},
    Limit{"sm.mbarrier_latency_cycles", 0, kMany, kBulk},
    Limit{"sm.ingress_bytes_per_clk", 1, 1 << 16},
    Limit{"sm.egress_bytes_per_clk", 1, 1 << 16},
    Limit{"sm.bulk_copy_issue_cycles", 1, kMany, kBulk},
    Limit{"sm.cta_launch_cycles", 0, kMany},
    Limit{"sm.cta_turnaround_cycles", 0, kMany},
    Limit{"l2.bytes", 1, 1e12},
    Limit{"l2.read_bytes_per_clk", 1, kMany},
    Limit{"l2.write_bytes_per_clk", 1, kMany},
    Limit{"l2.hit_latency_cycles", 1, kMany},
    Limit{"l2.bulk_hit_latency_cycles", 1, kMany, kBulk},
    Limit{"l2.dirty_bytes", 0, 1e12},
    Limit{"l2.write_back_bytes", 0, 1e12, Needed::kNever},
    Limit{"l2.addition_passes_per_clk", 0.001, kMany, Needed::kNever},
    Limit{"l2.float_addition_cycles", 0, 1e3, Needed::kNever},
    Limit{"l2.integer_addition_cycles", 0, 1e3, Needed::kNever},
    Limit{"gpcs", 1, 1024, Needed::kNever},
    Limit{"dram.bandwidth_gb_per_s", 1, kMany},
    Limit{"dram.efficiency_percent", 1, 100},
    Limit{"dram.turnaround_percent", 0, 200, Needed::kNever},
    Limit{"dram.write_queue_bytes", 0, 1e9, Needed::kNever},
    Limit{"dram.latency_cycles", 1, kMany},
    Limit{"dram.bulk_latency_cycles", 1, kMany, kBulk},
    Limit{"data_sheet.fp16_tflops", 1, kMany, Needed::kNever},
    Limit{"data_sheet.fp8_tflops", 1, kMany, Needed::kNever},
    Limit{"data_sheet.fp4_tflops", 1, kMany, Needed::kNever},
    Limit{"data_sheet.tensor_clock_mhz", 1, 1e5, Needed::kNever},
    Limit{"data_sheet.memory_gb_per_s", 1, kMany, Needed::kNever},
    // Of power: wide enough for any board; a unit that is off by a million is caught.
    Limit{"power.cap_w", 1, 1e5, kPower},
    Limit{"power.clock_limit_mhz", 1, 1e5, kPower},
    Limit{"power.response_ms", 0, 1e5, kPower},
    Limit{"power.energy.warp_instruction_pj", 0, kMany, kPower},
    Limit{"power.energy.alu_pj", 0, kMany, kPower},
    Limit{"power.energy.fma_pj", 0, kMany, kPower},
    Limit{"power.energy.fp16_pj", 0, kMany, kPower},
    Limit{"power.energy.fp64_pj", 0, kMany, kPower},
    Limit{"power.energy.xu_pj", 0, kMany, kPower},
    Limit{"power.energy.uniform_pj", 0, kMany, kPower},
    Limit{"power.energy.memory_pj", 0, kMany, kPower},
    Limit{"power.energy.register_read_pj", 0, kMany, kPower},
    Limit{"power.energy.tensor_16_bit_pj", 0, kMany, kPower},
    Limit{"power.energy.tensor_8_bit_pj", 0, kMany, kPower},
    Limit{"power.energy.tensor_4_bit_pj", 0, kMany, kPower},
    Limit{"power.energy.shared_memory_byte_pj", 0, kMany, kPower},
    Limit{"power.energy.l2_byte_pj", 0, kMany, kPower},
    Limit{"power.energy.dram_byte_pj", 0, kMany, kPower},
};

// The range of factors for "what if". The scaled quantities must also stay within the limits of the machine's
// structures.
constexpr double kLeastFactor = 0.125;
constexpr double kMostFactor = 8;

std::string number_text(double number) {
  std::ostringstream out;
  out.precision(12);
  out << number;
  return out.str();
}

// Returns 90 for "sm_90", and 0 if the name has another form.
int architecture_number(const std::string& name) {
  if (!name.starts_with("sm_") || name.size() < 5 || name.size() > 6) return 0;
  int number = 0;
  for (const char digit : name.substr(3)) {
    if (digit < '0' || digit > '9') return 0;
    number = number * 10 + (digit - '0');
  }
  return number;
}

bool is_needed(Needed needed, const Gpu& gpu, int architecture) {
  switch (needed) {
    case Needed::kAlways:
      return true;
    case Needed::kWithBulkCopies:
      return architecture >= 90;
    case Needed::kWithWgmma:
      return architecture / 10 == 9;
    case Needed::kWithTensorMemory:
      return gpu.sm().tcgen05().has_tensor_memory_columns();
    case Needed::kWithPower:
      return gpu.has_power();
    case Needed::kNever:
      return false;
  }
  return false;
}

std::optional<Finding> check_limits(const Gpu& gpu, int architecture) {
  for (const Limit& limit : kLimits) {
    const std::string path(limit.path);
    const auto number = number_at(gpu, limit.path);
    // Written so that a not-a-number fails too.
    if (number && !(*number >= limit.least && *number <= limit.most)) {
      return Finding{path, path + " must be from " + number_text(limit.least) + " to " + number_text(limit.most) + ", not " +
                               number_text(*number)};
    }
  }
  for (const Limit& limit : kLimits) {
    const std::string path(limit.path);
    if (!number_at(gpu, limit.path) && is_needed(limit.needed, gpu, architecture)) return Finding{path, path + " is missing"};
  }
  return std::nullopt;
}

double or_one(bool present, double factor) { return present ? factor : 1; }

bool is_whole(double number) { return std::abs(number - std::round(number)) < 0.005; }

// Ports are whole or half, and a sub-core issues from so many warps a cycle or every so many cycles.
std::optional<Finding> check_ways(const SubCore& sub_core) {
  const double issue = or_one(sub_core.issue().has_scale(), sub_core.issue().scale());
  if (!is_whole(issue) && !is_whole(1 / issue)) {
    return Finding{"sub_core.issue.scale",
                   "sub_core.issue.scale must be a whole number or the reciprocal of one, not " + number_text(issue)};
  }
  const double write_ports = or_one(sub_core.register_write().has_scale(), sub_core.register_write().scale());
  const double read_scale = or_one(sub_core.register_read().has_scale(), sub_core.register_read().scale());
  const double read_ports = read_scale * sub_core.read_ports_per_bank();
  const auto possible = [](double ports, double most) { return ports == 0.5 || (is_whole(ports) && ports >= 1 && ports <= most); };
  if (!possible(read_ports, 4)) {
    return Finding{"sub_core.register_read.scale",
                   "sub_core.register_read.scale must make it 0.5, 1, 2, 3 or 4 read ports a bank, not " + number_text(read_ports)};
  }
  if (!possible(write_ports, 2)) {
    return Finding{"sub_core.register_write.scale",
                   "sub_core.register_write.scale must make it 0.5, 1 or 2 write ports a bank, not " + number_text(write_ports)};
  }
  return std::nullopt;
}

// Checks scaled quantities against the capacities of the machine's structures.
std::optional<Finding> check_scaled_limits(const Gpu& gpu) {
  constexpr double kMostWarps = 32;        // of a sub-core: bits of a mask
  constexpr double kMostCompletion = 512;  // with a command every 10 cycles: 64 in flight hold
  const Sm& sm = gpu.sm();
  const double warps = or_one(sm.warps().has_capacity_scale(), sm.warps().capacity_scale()) * gpu.sub_core().warp_slots();
  if (warps < 1 || warps > kMostWarps) {
    return Finding{"sm.warps.capacity_scale",
                   "sm.warps.capacity_scale must make it 1 to 32 warps a sub-core, not " + number_text(warps)};
  }
  const double completion =
      or_one(sm.tensor().has_latency_scale(), sm.tensor().latency_scale()) * sm.tensor().wgmma_completion_cycles();
  if (completion > kMostCompletion) {
    return Finding{"sm.tensor.latency_scale",
                   "sm.tensor.latency_scale must make wgmma_completion_cycles at most 512, not " + number_text(completion)};
  }
  return std::nullopt;
}

// Time is kept in units of 1/rate (sim/sm/make_spec.cc): rates outside would lose bytes or run out of 64 bits.
std::optional<Finding> check_rates(const Gpu& gpu) {
  const double l2 = or_one(gpu.l2().has_scale(), gpu.l2().scale());
  // GB/s over MHz is 1000 bytes a cycle.
  const double dram = or_one(gpu.dram().has_scale(), gpu.dram().scale()) * gpu.dram().bandwidth_gb_per_s() * 1000 /
                      gpu.clock_mhz() * gpu.dram().efficiency_percent() / 100;
  struct Rate {
    const char* path;
    const char* unit;
    double bytes_per_clk;
    const char* from;
  };
  for (const Rate& rate :
       {Rate{"l2.read_bytes_per_clk", "L2", l2 * gpu.l2().read_bytes_per_clk(), "l2.read_bytes_per_clk x l2.scale"},
        {"l2.write_bytes_per_clk", "L2", l2 * gpu.l2().write_bytes_per_clk(), "l2.write_bytes_per_clk x l2.scale"},
        {"dram.bandwidth_gb_per_s", "DRAM", dram, "bandwidth_gb_per_s x efficiency_percent x scale / clock_mhz"}}) {
    // The bandwidth servers keep time in units of 1/rate: outside they would lose bytes or run out of 64 bits
    // (sim/sm/make_spec.cc).
    if (rate.bytes_per_clk >= 1 && rate.bytes_per_clk <= 1e6) continue;
    return Finding{rate.path, std::string(rate.path) + ": " + rate.unit + " must move between 1 and 1,000,000 bytes a cycle, not " +
                                  number_text(rate.bytes_per_clk) + " (" + rate.from + ")"};
  }
  return std::nullopt;
}

std::optional<Finding> check_factors(const Gpu& gpu) {
  for (const ScalableResource& resource : scalable_resources()) {
    if (resource.whole) continue;
    const auto factor = number_at(gpu, resource.path);
    if (!factor || (*factor >= kLeastFactor && *factor <= kMostFactor)) continue;
    const std::string path(resource.path);
    return Finding{path, path + " must be from " + number_text(kLeastFactor) + " to " + number_text(kMostFactor) + ", not " +
                             number_text(*factor)};
  }
  if (auto fault = check_ways(gpu.sub_core())) return fault;
  if (auto fault = check_scaled_limits(gpu)) return fault;
  return check_rates(gpu);
}

std::optional<Finding> check_consistency(const Gpu& gpu) {
  const Sm& sm = gpu.sm();
  const SharedMemory& shared = sm.shared_memory();
  const auto text = [](auto number) { return std::to_string(number); };
  if (sm.warp_slots() != sm.sub_cores() * gpu.sub_core().warp_slots()) {
    return Finding{"sm.warp_slots", "sm.warp_slots must be sm.sub_cores x sub_core.warp_slots (" + text(sm.sub_cores()) + " x " +
                                        text(gpu.sub_core().warp_slots()) + "), not " + text(sm.warp_slots())};
  }
  if (sm.tcgen05().queue_entries_per_sub_core() * sm.sub_cores() > 64) {
    return Finding{"sm.tcgen05.queue_entries_per_sub_core",
                   "sm.tcgen05.queue_entries_per_sub_core x sm.sub_cores must be at most 64, "
                   "not " +
                       text(sm.tcgen05().queue_entries_per_sub_core()) + " x " + text(sm.sub_cores())};
  }
  if (sm.registers() % (sm.register_allocation_unit() * sm.sub_cores()) != 0) {
    return Finding{"sm.registers", "sm.registers (" + text(sm.registers()) +
                                       ") must be a multiple of sm.register_allocation_unit x sm.sub_cores (" +
                                       text(sm.register_allocation_unit()) + " x " + text(sm.sub_cores()) + ")"};
  }
  if (shared.bytes_per_cta_max() + shared.reserved_bytes_per_cta() > shared.bytes()) {
    return Finding{"sm.shared_memory.bytes_per_cta_max",
                   "sm.shared_memory.bytes_per_cta_max plus reserved_bytes_per_cta (" + text(shared.bytes_per_cta_max()) + " + " +
                       text(shared.reserved_bytes_per_cta()) + ") must not exceed sm.shared_memory.bytes (" + text(shared.bytes()) +
                       ")"};
  }
  if (shared.bytes() > sm.data_memory_bytes()) {
    return Finding{"sm.data_memory_bytes", "sm.data_memory_bytes (" + text(sm.data_memory_bytes()) +
                                               ") holds L1 and shared memory: it must not be below sm.shared_memory.bytes (" +
                                               text(shared.bytes()) + ")"};
  }
  if (gpu.sm().has_instruction_cache()) {
    for (const char* field : {"bytes", "line_bytes", "line_cycles"}) {
      const std::string path = std::string("sm.instruction_cache.") + field;
      if (!number_at(gpu, path))
        return Finding{path, path + " is missing: an instruction cache has bytes, line_bytes and line_cycles"};
    }
  }
  if (gpu.dram().latency_cycles() < gpu.l2().hit_latency_cycles()) {
    return Finding{"dram.latency_cycles", "dram.latency_cycles (" + text(gpu.dram().latency_cycles()) +
                                              ") must not be below l2.hit_latency_cycles (" + text(gpu.l2().hit_latency_cycles()) +
                                              "): it is the whole latency"};
  }
  if (gpu.dram().bulk_latency_cycles() < gpu.l2().bulk_hit_latency_cycles()) {
    return Finding{"dram.bulk_latency_cycles", "dram.bulk_latency_cycles (" + text(gpu.dram().bulk_latency_cycles()) +
                                                   ") must not be below l2.bulk_hit_latency_cycles (" +
                                                   text(gpu.l2().bulk_hit_latency_cycles()) + "): it is the whole latency"};
  }
  return std::nullopt;
}

std::optional<Finding> find_fault(const Gpu& gpu) {
  if (gpu.name().empty()) return Finding{"name", "name is missing"};
  if (gpu.architecture().empty()) return Finding{"architecture", "architecture is missing"};
  const int architecture = architecture_number(gpu.architecture());
  if (architecture == 0) {
    return Finding{"architecture", "architecture must look like \"sm_90\", not " + escape::quoted(gpu.architecture())};
  }
  if (auto fault = check_limits(gpu, architecture)) return fault;
  if (!gpu.sub_core().has_register_file_cache()) {
    return Finding{"sub_core.register_file_cache", "sub_core.register_file_cache is missing"};
  }
  if (auto fault = check_factors(gpu)) return fault;
  if (auto fault = check_consistency(gpu)) return fault;
  return find_power_fault(gpu);
}

}  // namespace

std::optional<Finding> find_gpu_fault(const Gpu& gpu, const std::string& prefix) {
  auto fault = find_fault(gpu);
  if (!fault) return fault;
  return Finding{prefix + fault->path, (prefix.empty() ? "" : "gpu: ") + fault->message};
}

Expected<void> check_gpu(const Gpu& gpu, const std::string& file) {
  if (const auto fault = find_gpu_fault(gpu, "")) return fail_at(file, 0, 0, fault->message);
  return {};
}

}  // namespace warpfold::configs
