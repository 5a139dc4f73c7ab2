#include <google/protobuf/descriptor.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string_view>

#include "configs/check.h"
#include "configs/load.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;

enum class Needed {
  kAlways,
  kWithBulkCopies,  // wgmma and bulk copies: architectures from sm_90 on
  kNever,           // left out, it is 0
};

// What a number may be. Upper limits are no claim about hardware. Those with a reason beside them are what the machine's structures
// hold; the others are far above any chip and keep a slip of the keyboard from becoming a run that never ends.
struct Limit {
  std::string_view path;
  double least;
  double most;
  Needed needed = Needed::kAlways;
};

constexpr double kMany = 1e6;
constexpr Needed kBulk = Needed::kWithBulkCopies;

constexpr std::array kLimits{
    Limit{"sm_count", 1, 4096},
    Limit{"clock_mhz", 1, 1e5},
    Limit{"kernel_launch_cycles", 0, kMany},
    Limit{"sub_core.warp_slots", 1, 32},          // bits of a mask
    Limit{"sub_core.read_ports_per_bank", 1, 2},  // masks of reservations
    Limit{"sub_core.read_window_cycles", 1, 16},
    Limit{"sub_core.memory_queue_entries", 1, 64},
    Limit{"sub_core.address_generation_interval_cycles", 1, 64},
    Limit{"sub_core.memory_transit_cycles", 0, 1024},
    Limit{"sub_core.load_return_bytes_per_clk", 1, 4096},
    Limit{"sub_core.alu_admission_entries", 0, 15, Needed::kNever},        // a pipe remembers its last 16 instructions
    Limit{"sub_core.fma_heavy_admission_entries", 0, 15, Needed::kNever},  // the same
    Limit{"sub_core.fp64_admission_entries", 0, 15, Needed::kNever},       // the same
    Limit{"sub_core.xu_admission_entries", 0, 15, Needed::kNever},         // the same
    Limit{"sm.sub_cores", 1, 4},                                           // a warpgroup's four warps are on different ones
    Limit{"sm.registers", 1, 1 << 24},
    Limit{"sm.register_allocation_unit", 1, 1 << 16},
    Limit{"sm.warp_slots", 1, 256},
    Limit{"sm.cta_slots", 1, 256},
    Limit{"sm.shared_memory.bytes", 0, 1 << 28},
    Limit{"sm.shared_memory.bytes_per_cta_max", 0, 1 << 28},
    Limit{"sm.shared_memory.reserved_bytes_per_cta", 0, 1 << 20},
    Limit{"sm.shared_memory.allocation_bytes", 1, 1 << 20},
    Limit{"sm.shared_memory.bytes_per_clk", 1, 1 << 16},
    Limit{"sm.memory_issue_interval_cycles", 1, 64},
    Limit{"sm.memory_credits", 1, 1024},
    Limit{"sm.tensor.wgmma_columns_per_clk", 1, 1024, kBulk},
    Limit{"sm.tensor.wgmma_fifo_entries", 1, 16, kBulk},                       // commands that a warpgroup may have open
    Limit{"sm.tensor.wgmma_completion_cycles", 0, 512, kBulk},                 // with a command every 10 cycles: 64 in flight hold
    Limit{"sm.tensor.wgmma_completion_a_in_registers_cycles", 0, 512, kBulk},  // the same
    Limit{"sm.tensor.wgmma_command_floor_cycles", 10, 1024, kBulk},            // the same
    Limit{"sm.tensor.wgmma_a_wavefronts", 0, 1024, kBulk},
    Limit{"sm.tensor.wgmma_columns_per_b_wavefront", 1, 1024, kBulk},
    Limit{"sm.tensor.accumulator_commit_window_cycles", 1, 1024, kBulk},
    Limit{"sm.tensor.accumulator_commit_reads", 0, 1024, kBulk},
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
    Limit{"dram.bandwidth_gb_per_s", 1, kMany},
    Limit{"dram.efficiency_percent", 1, 100},
    Limit{"dram.latency_cycles", 1, kMany},
    Limit{"dram.bulk_latency_cycles", 1, kMany, kBulk},
};

std::string number_text(double number) {
  std::ostringstream out;
  out.precision(12);
  out << number;
  return out.str();
}

// The number at a dotted path, or nothing where the file gives none.
std::optional<double> number_at(const pb::Message& root, std::string_view path) {
  const pb::Message* message = &root;
  for (;;) {
    const std::string name(path.substr(0, path.find('.')));
    const pb::FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(name);
    if (field == nullptr) throw std::logic_error("a limit for a field that the schema lacks: " + name);
    const pb::Reflection& reflection = *message->GetReflection();
    if (!reflection.HasField(*message, field)) return std::nullopt;
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        message = &reflection.GetMessage(*message, field);
        break;
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return reflection.GetUInt32(*message, field);
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return static_cast<double>(reflection.GetUInt64(*message, field));
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return reflection.GetDouble(*message, field);
      default:
        throw std::logic_error("a limit for a field that is no number: " + name);
    }
    path.remove_prefix(name.size() + 1);
  }
}

// The number of "sm_90"; 0 where the name has another form.
int architecture_number(const std::string& name) {
  if (!name.starts_with("sm_") || name.size() < 5 || name.size() > 6) return 0;
  int number = 0;
  for (const char digit : name.substr(3)) {
    if (digit < '0' || digit > '9') return 0;
    number = number * 10 + (digit - '0');
  }
  return number;
}

std::optional<Finding> check_limits(const Gpu& gpu, bool bulk_copies) {
  for (const Limit& limit : kLimits) {
    const std::string path(limit.path);
    const auto number = number_at(gpu, limit.path);
    const bool needed = limit.needed == Needed::kAlways || (limit.needed == Needed::kWithBulkCopies && bulk_copies);
    if (!number && needed) return Finding{path, path + " is missing"};
    if (!number) continue;
    // Written so that a not-a-number fails too.
    if (!(*number >= limit.least && *number <= limit.most)) {
      return Finding{path, path + " must be from " + number_text(limit.least) + " to " + number_text(limit.most) + ", not " +
                               number_text(*number)};
    }
  }
  return std::nullopt;
}

std::optional<Finding> check_consistency(const Gpu& gpu) {
  const Sm& sm = gpu.sm();
  const SharedMemory& shared = sm.shared_memory();
  const auto text = [](auto number) { return std::to_string(number); };
  if (sm.warp_slots() != sm.sub_cores() * gpu.sub_core().warp_slots()) {
    return Finding{"sm.warp_slots", "sm.warp_slots must be sm.sub_cores x sub_core.warp_slots (" + text(sm.sub_cores()) + " x " +
                                        text(gpu.sub_core().warp_slots()) + "), not " + text(sm.warp_slots())};
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
    return Finding{"architecture", "architecture must look like \"sm_90\", not \"" + gpu.architecture() + "\""};
  }
  if (auto fault = check_limits(gpu, architecture >= 90)) return fault;
  if (!gpu.sub_core().has_register_file_cache()) {
    return Finding{"sub_core.register_file_cache", "sub_core.register_file_cache is missing"};
  }
  return check_consistency(gpu);
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
