#include "tools/knobs/fields.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "configs/resources.h"

namespace warpfold::knobs {

namespace {

namespace pb = google::protobuf;
using enum Meaning;

constexpr std::array kRows{
    FieldRow{"sub_core.warp_slots", kMore, "sm.warp_slots"},
    FieldRow{"sub_core.read_ports_per_bank", kMore},
    FieldRow{"sub_core.read_window_cycles", kMore},
    FieldRow{"sub_core.memory_queue_entries", kMore},
    FieldRow{"sub_core.address_generation_interval_cycles", kLess},
    FieldRow{"sub_core.memory_transit_cycles", kLess},
    FieldRow{"sub_core.load_return_bytes_per_clk", kMore},
    FieldRow{"sub_core.alu_admission_entries", kMore},
    FieldRow{"sub_core.fma_heavy_admission_entries", kMore},
    FieldRow{"sub_core.fp64_admission_entries", kMore},
    FieldRow{"sub_core.xu_admission_entries", kMore},
    FieldRow{"sm.sub_cores", kMore, "sm.warp_slots"},
    FieldRow{"sm.registers", kMore},
    FieldRow{"sm.register_allocation_unit", kNeither},
    FieldRow{"sm.warp_slots", kMore, "sub_core.warp_slots"},
    FieldRow{"sm.cta_slots", kMore},
    FieldRow{"sm.data_memory_bytes", kMore},
    FieldRow{"sm.shared_memory.bytes", kMore},
    FieldRow{"sm.shared_memory.bytes_per_cta_max", kMore},
    FieldRow{"sm.shared_memory.reserved_bytes_per_cta", kLess},
    FieldRow{"sm.shared_memory.allocation_bytes", kNeither},
    FieldRow{"sm.shared_memory.bytes_per_clk", kMore},
    FieldRow{"sm.memory_issue_interval_cycles", kLess},
    FieldRow{"sm.constant_address_cycles", kLess},
    FieldRow{"sm.memory_credits", kMore},
    FieldRow{"sm.tensor.wgmma_columns_per_clk", kMore},
    FieldRow{"sm.tensor.wgmma_fifo_entries", kMore},
    FieldRow{"sm.tensor.wgmma_completion_cycles", kLess},
    FieldRow{"sm.tensor.wgmma_command_floor_cycles", kLess},
    FieldRow{"sm.tensor.wgmma_a_wavefronts", kLess},
    FieldRow{"sm.tensor.wgmma_columns_per_b_wavefront", kMore},
    FieldRow{"sm.tensor.wgmma_completion_a_in_registers_cycles", kLess},
    FieldRow{"sm.tensor.accumulator_commit_window_cycles", kMore},
    FieldRow{"sm.tensor.accumulator_commit_reads", kLess},
    FieldRow{"sm.tensor.accumulator_pairs_before_wide_result", kNeither},
    FieldRow{"sm.barrier_latency_cycles", kLess},
    FieldRow{"sm.mbarrier_latency_cycles", kLess},
    FieldRow{"sm.ingress_bytes_per_clk", kMore},
    FieldRow{"sm.egress_bytes_per_clk", kMore},
    FieldRow{"sm.bulk_copy_issue_cycles", kLess},
    FieldRow{"sm.cta_launch_cycles", kLess},
    FieldRow{"sm.cta_turnaround_cycles", kLess},
    FieldRow{"sm.tcgen05.columns_per_clk", kMore},
    FieldRow{"sm.tcgen05.queue_entries_per_sub_core", kMore},
    FieldRow{"sm.tcgen05.completion_cycles", kLess},
    FieldRow{"sm.tcgen05.pair_completion_cycles", kLess},
    FieldRow{"sm.tcgen05.rows_per_a_wavefront", kMore},
    FieldRow{"sm.tcgen05.columns_per_b_wavefront", kMore},
    FieldRow{"sm.tcgen05.tensor_memory_columns", kMore},
    FieldRow{"sm.tcgen05.narrow_columns_per_clk", kMore},
    FieldRow{"sm.instruction_cache.bytes", kMore},
    FieldRow{"sm.instruction_cache.line_bytes", kMore},
    FieldRow{"sm.instruction_cache.line_cycles", kLess},
    FieldRow{"l2.bytes", kMore},
    FieldRow{"l2.read_bytes_per_clk", kMore},
    FieldRow{"l2.write_bytes_per_clk", kMore},
    FieldRow{"l2.hit_latency_cycles", kLess},
    FieldRow{"l2.bulk_hit_latency_cycles", kLess},
    FieldRow{"l2.dirty_bytes", kMore},
    FieldRow{"l2.write_back_bytes", kMore},
    FieldRow{"l2.addition_passes_per_clk", kMore},
    FieldRow{"l2.float_addition_cycles", kLess},
    FieldRow{"l2.integer_addition_cycles", kLess},
    FieldRow{"dram.bandwidth_gb_per_s", kMore},
    FieldRow{"dram.efficiency_percent", kMore},
    FieldRow{"dram.turnaround_percent", kLess},
    FieldRow{"dram.write_queue_bytes", kMore},
    FieldRow{"dram.latency_cycles", kLess},
    FieldRow{"dram.bulk_latency_cycles", kLess},
    FieldRow{"data_sheet.fp16_tflops", kNeither},
    FieldRow{"data_sheet.fp8_tflops", kNeither},
    FieldRow{"data_sheet.tensor_clock_mhz", kNeither},
    FieldRow{"data_sheet.memory_gb_per_s", kNeither},
    FieldRow{"data_sheet.fp4_tflops", kNeither},
    FieldRow{"power.clock_limit_mhz", kMore},
    FieldRow{"power.response_ms", kNeither},
    FieldRow{"power.point.*.clock_mhz", kMore},
    FieldRow{"power.point.*.voltage", kLess},
    FieldRow{"power.point.*.static_w", kLess},
    FieldRow{"power.energy.warp_instruction_pj", kLess},
    FieldRow{"power.energy.alu_pj", kLess},
    FieldRow{"power.energy.fma_pj", kLess},
    FieldRow{"power.energy.fp16_pj", kLess},
    FieldRow{"power.energy.fp64_pj", kLess},
    FieldRow{"power.energy.xu_pj", kLess},
    FieldRow{"power.energy.uniform_pj", kLess},
    FieldRow{"power.energy.memory_pj", kLess},
    FieldRow{"power.energy.register_read_pj", kLess},
    FieldRow{"power.energy.tensor_16_bit_pj", kLess},
    FieldRow{"power.energy.tensor_8_bit_pj", kLess},
    FieldRow{"power.energy.tensor_4_bit_pj", kLess},
    FieldRow{"power.energy.shared_memory_byte_pj", kLess},
    FieldRow{"power.energy.l2_byte_pj", kLess},
    FieldRow{"power.energy.dram_byte_pj", kLess},
    FieldRow{"kernel_launch_cycles", kLess},
    FieldRow{"graph_launch_cycles", kLess},
    FieldRow{"programmatic_launch_cycles", kLess},
    FieldRow{"timed_launch_us", kNeither},
    FieldRow{"gpcs", kLess},
};

bool is_numeric(const pb::FieldDescriptor& field) {
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_INT32:
    case pb::FieldDescriptor::CPPTYPE_INT64:
    case pb::FieldDescriptor::CPPTYPE_UINT32:
    case pb::FieldDescriptor::CPPTYPE_UINT64:
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
    case pb::FieldDescriptor::CPPTYPE_FLOAT:
      return true;
    case pb::FieldDescriptor::CPPTYPE_BOOL:
    case pb::FieldDescriptor::CPPTYPE_ENUM:
    case pb::FieldDescriptor::CPPTYPE_STRING:
    case pb::FieldDescriptor::CPPTYPE_MESSAGE:
      return false;
  }
  return false;
}

void add_numeric_fields(const pb::Descriptor& type, const std::string& prefix, std::vector<std::string>& paths) {
  for (int i = 0; i < type.field_count(); ++i) {
    const pb::FieldDescriptor& field = *type.field(i);
    const std::string path = prefix + field.name() + (field.is_repeated() ? ".*" : "");
    if (field.message_type() != nullptr) {
      add_numeric_fields(*field.message_type(), path + ".", paths);
    } else if (is_numeric(field)) {
      paths.push_back(path);
    }
  }
}

// The shortest digits that read back as the same number: 2 -> "2", 0.45 -> "0.45".
template <typename Number>
std::string digits(Number number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  return {buffer.data(), end};
}

bool is_factor(std::string_view name) { return name == "scale" || name == "latency_scale" || name == "capacity_scale"; }

// Returns `field` of `message` times `factor`; empty if the value does not change.
std::optional<std::string> scaled(const pb::Message& message, const pb::FieldDescriptor& field, double factor) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (!reflection.HasField(message, &field)) return is_factor(field.name()) ? std::optional(digits(factor)) : std::nullopt;
  const auto times = [&](auto now) -> std::optional<std::string> {
    const auto then = static_cast<decltype(now)>(std::round(static_cast<double>(now) * factor));
    return then == now ? std::nullopt : std::optional(digits(then));
  };
  switch (field.cpp_type()) {
    case pb::FieldDescriptor::CPPTYPE_UINT32:
      return times(reflection.GetUInt32(message, &field));
    case pb::FieldDescriptor::CPPTYPE_UINT64:
      return times(reflection.GetUInt64(message, &field));
    case pb::FieldDescriptor::CPPTYPE_DOUBLE:
      return digits(reflection.GetDouble(message, &field) * factor);
    default:
      throw std::logic_error("gpu.proto has a number of another type: " + field.full_name());
  }
}

// `path`: the path below `message`; `written`: the path above it, as the setting states it.
void add_settings(const pb::Message& message, std::string_view path, const std::string& written, double factor,
                  std::vector<std::string>& settings) {
  const size_t dot = path.find('.');
  const std::string name(path.substr(0, dot));
  const pb::FieldDescriptor* field = message.GetDescriptor()->FindFieldByName(name);
  if (field == nullptr) throw std::logic_error("gpu.proto has no " + written + name);
  const pb::Reflection& reflection = *message.GetReflection();
  if (field->message_type() == nullptr) {
    if (const auto value = scaled(message, *field, factor)) settings.push_back(written + name + "=" + *value);
    return;
  }
  const std::string_view below = path.substr(dot + 1);
  if (!field->is_repeated()) {
    return add_settings(reflection.GetMessage(message, field), below, written + name + ".", factor, settings);
  }
  const std::string_view element = below.substr(below.find('.') + 1);
  for (int i = 0; i < reflection.FieldSize(message, field); ++i) {
    add_settings(reflection.GetRepeatedMessage(message, field, i), element, written + name + "[" + std::to_string(i) + "].", factor,
                 settings);
  }
}

const FieldRow* row_of(std::string_view path) {
  const auto* const found = std::ranges::find(kRows, path, &FieldRow::path);
  return found == kRows.end() ? nullptr : found;
}

}  // namespace

std::vector<std::string> numeric_fields() {
  std::vector<std::string> paths;
  add_numeric_fields(*configs::Gpu::descriptor(), "", paths);
  return paths;
}

std::span<const FieldRow> field_rows() { return kRows; }

std::optional<Meaning> meaning_of(std::string_view path) {
  if (const FieldRow* row = row_of(path)) return row->meaning;
  for (const configs::ScalableResource& resource : configs::scalable_resources()) {
    if (resource.path == path) return resource.kind == configs::ResourceKind::kLatency ? kLess : kMore;
  }
  return std::nullopt;
}

std::vector<std::string> settings_of(const configs::Gpu& gpu, std::string_view path, double factor) {
  std::vector<std::string> settings;
  add_settings(gpu, path, "gpu.", factor, settings);
  const FieldRow* row = row_of(path);
  if (settings.empty() || row == nullptr) return settings;
  for (std::string_view rest = row->together; !rest.empty();) {
    const std::string_view other = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(other.size() + 1, rest.size()));
    add_settings(gpu, other, "gpu.", factor, settings);
  }
  return settings;
}

}  // namespace warpfold::knobs
