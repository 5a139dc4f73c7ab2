#include "configs/resources.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "configs/enum_values.h"
#include "configs/gpu.pb.h"
#include "configs/pipes.h"

namespace warpfold::configs {

namespace {

namespace pb = google::protobuf;
using enum ResourceKind;

constexpr std::array kBeforePipes{
    ScalableResource{"issue_slot", kRate, "sub_core.issue.scale",
                     "instructions a cycle that a sub-core issues, of different warps"},
};

constexpr std::array kBehindPipes{
    ScalableResource{"register_read_ports", kRate, "sub_core.register_read.scale", "register file: read ports"},
    ScalableResource{"register_write_ports", kRate, "sub_core.register_write.scale", "register file: write ports"},
    ScalableResource{"load_return", kRate, "sub_core.load_return.scale", "bandwidth of loaded data into the register file"},
    ScalableResource{"memory_issue", kRate, "sm.memory_io.scale",
                     "memory instructions a cycle: address generation, SM-shared stage"},
    ScalableResource{"shared_memory", kRate, "sm.shared_memory.scale", "bandwidth of shared memory and L1"},
    ScalableResource{"network", kRate, "sm.network.scale", "bandwidth between SMs and L2"},
    ScalableResource{"bulk_copy", kRate, "sm.bulk_copy.scale", "requests a cycle of the bulk copy engine"},
    ScalableResource{"l2", kRate, "l2.scale", "bandwidth of L2, reads and writes"},
    ScalableResource{"dram", kRate, "dram.scale", "bandwidth of DRAM"},
    ScalableResource{"xu_latency", kLatency, "sub_core.xu.latency_scale", "latency of the special-function pipe"},
    ScalableResource{"fp64_latency", kLatency, "sub_core.fp64.latency_scale",
                     "latency of the FP64 pipe, where counters signal its results"},
    ScalableResource{"tensor_latency", kLatency, "sm.tensor.latency_scale", "latency of wgmma and tcgen05.mma"},
    ScalableResource{"tensor_memory_latency", kLatency, "sub_core.tensor_memory.latency_scale",
                     "latency of loads from tensor memory"},
    ScalableResource{"shared_memory_latency", kLatency, "sm.shared_memory.latency_scale",
                     "latency of shared memory, L1, shuffles and constants"},
    ScalableResource{"l2_latency", kLatency, "l2.latency_scale", "latency from an SM to L2 and back"},
    ScalableResource{"dram_latency", kLatency, "dram.latency_scale", "latency from L2 to DRAM and back"},
    ScalableResource{"barrier_latency", kLatency, "sm.barriers.latency_scale", "latency of barriers and mbarriers"},
    ScalableResource{"launch_latency", kLatency, "launch.latency_scale", "latency of launches of kernels and CTAs"},
    ScalableResource{"memory_queue", kCapacity, "sm.memory_io.capacity_scale", "slots of memory instructions in the SM"},
    ScalableResource{"registers", kCapacity, "sm.register_file.capacity_scale", "registers of an SM"},
    ScalableResource{"shared_memory_bytes", kCapacity, "sm.shared_memory.capacity_scale", "bytes of shared memory"},
    ScalableResource{"warp_slots", kCapacity, "sm.warps.capacity_scale", "warps of an SM"},
    ScalableResource{"cta_slots", kCapacity, "sm.ctas.capacity_scale", "CTAs of an SM"},
    ScalableResource{"l2_bytes", kCapacity, "l2.bytes,l2.dirty_bytes", "bytes of L2; programs' hit rates follow", true},
    ScalableResource{"sm_count", kRate, "sm_count", "SMs; grids that fill the chip follow, L2 and DRAM do not", true, true},
    ScalableResource{"clock", kRate, "clock_mhz", "clock of SMs and L2; DRAM keeps its bandwidth", true, true},
    ScalableResource{"power_cap", kRate, "power.cap_w", "watts of the board, where gpu.clock is POWER", true, true},
};

// With a factor on each math pipe, those of the sub-cores before those of the SM.
constexpr auto kResources = [] {
  std::array<ScalableResource, kBeforePipes.size() + kMathPipes.size() + kBehindPipes.size()> resources{};
  auto next = std::ranges::copy(kBeforePipes, resources.begin()).out;
  for (const bool of_sm : {false, true}) {
    for (const PipeRow& row : kMathPipes) {
      if (row.rate.starts_with("sm.") == of_sm) *next++ = {row.name, kRate, row.rate, row.throughput};
      const bool known = std::ranges::find(kBehindPipes, row.latency, &ScalableResource::path) != kBehindPipes.end();
      if (!row.latency.empty() && !known) throw "the latency of a pipe's results is no resource";
    }
  }
  std::ranges::copy(kBehindPipes, next);
  return resources;
}();

// 2 -> "2", 0.125 -> "0.125": the shortest digits that read back as the same number.
std::string digits(double number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

struct Amount {
  double value;
  bool integer;
  bool present;
};

Amount amount_at(const pb::Message& root, std::string_view path) {
  const pb::Message* message = &root;
  for (;;) {
    const size_t dot = path.find('.');
    const pb::FieldDescriptor* field = message->GetDescriptor()->FindFieldByName(std::string(path.substr(0, dot)));
    if (field == nullptr) throw std::logic_error("a resource whose field the schema lacks: " + std::string(path));
    const pb::Reflection& reflection = *message->GetReflection();
    const bool present = reflection.HasField(*message, field);
    switch (field->cpp_type()) {
      case pb::FieldDescriptor::CPPTYPE_MESSAGE:
        message = &reflection.GetMessage(*message, field);
        path.remove_prefix(dot + 1);
        break;
      case pb::FieldDescriptor::CPPTYPE_UINT32:
        return {static_cast<double>(reflection.GetUInt32(*message, field)), true, present};
      case pb::FieldDescriptor::CPPTYPE_UINT64:
        return {static_cast<double>(reflection.GetUInt64(*message, field)), true, present};
      case pb::FieldDescriptor::CPPTYPE_DOUBLE:
        return {reflection.GetDouble(*message, field), false, present};
      default:
        throw std::logic_error("a resource whose field is no number: " + std::string(path));
    }
  }
}

// Rounded down, in thousandths as all factors, at least `least`.
template <typename Part>
uint32_t scaled(const Part& part, uint32_t amount, uint32_t least) {
  if (!part.has_capacity_scale()) return amount;
  const auto thousandths = static_cast<uint64_t>(std::llround(part.capacity_scale() * 1000));
  return std::max(least, static_cast<uint32_t>(amount * thousandths / 1000));
}

}  // namespace

Gpu with_scaled_capacities(Gpu gpu) {
  Sm& sm = *gpu.mutable_sm();
  SubCore& sub_core = *gpu.mutable_sub_core();
  SharedMemory& shared = *sm.mutable_shared_memory();
  sub_core.set_warp_slots(scaled(sm.warps(), sub_core.warp_slots(), 1));
  sub_core.set_memory_queue_entries(scaled(sm.memory_io(), sub_core.memory_queue_entries(), 1));
  if (sm.warps().has_capacity_scale()) sm.set_warp_slots(sub_core.warp_slots() * sm.sub_cores());
  sm.set_memory_credits(scaled(sm.memory_io(), sm.memory_credits(), 1));
  sm.set_registers(scaled(sm.register_file(), sm.registers(), 0));
  sm.set_cta_slots(scaled(sm.ctas(), sm.cta_slots(), 1));
  shared.set_bytes_per_cta_max(scaled(shared, shared.bytes_per_cta_max(), 0));
  const uint32_t beside = sm.data_memory_bytes() - shared.bytes();  // of L1, whose factor this is not
  shared.set_bytes(scaled(shared, shared.bytes(), 0));
  sm.set_data_memory_bytes(shared.bytes() + beside);
  shared.clear_capacity_scale();
  sm.mutable_memory_io()->clear_capacity_scale();
  sm.clear_warps();
  sm.clear_register_file();
  sm.clear_ctas();
  return gpu;
}

std::string_view resource_kind_name(ResourceKind kind) {
  static constexpr auto kNames =
      by_enum<ResourceKind, std::string_view>({{kRate, "rate"}, {kLatency, "latency"}, {kCapacity, "capacity"}});
  return kNames[static_cast<size_t>(kind)];
}

std::span<const ScalableResource> scalable_resources() { return kResources; }

const ScalableResource* find_resource(std::string_view name) {
  const auto found = std::ranges::find(kResources, name, &ScalableResource::name);
  return found == kResources.end() ? nullptr : &*found;
}

std::vector<std::string> resource_names() {
  std::vector<std::string> names;
  for (const ScalableResource& resource : kResources) names.emplace_back(resource.name);
  return names;
}

std::optional<double> number_at(const Gpu& gpu, std::string_view path) {
  const Amount amount = amount_at(gpu, path);
  return amount.present ? std::optional(amount.value) : std::nullopt;
}

std::vector<std::string> scaled_by(const Gpu& gpu, const ScalableResource& resource, double factor) {
  std::vector<std::string> settings;
  for (std::string_view rest = resource.path; !rest.empty();) {
    const std::string_view path = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
    const Amount amount = amount_at(gpu, path);
    const double now = amount.present || resource.whole ? amount.value : 1;
    const double scaled = amount.integer ? std::round(now * factor) : now * factor;
    std::string setting("gpu.");
    settings.push_back(
        setting.append(path).append("=").append(amount.integer ? std::to_string(static_cast<uint64_t>(scaled)) : digits(scaled)));
  }
  return settings;
}

}  // namespace warpfold::configs
