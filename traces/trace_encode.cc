#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <stdexcept>
#include <unordered_map>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/packed_control.h"
#include "traces/trace.pb.h"
#include "traces/trace_encoding.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

// Numbers each text once, in order of first use, so that equal kernels always give equal bytes.
class TextTable {
 public:
  explicit TextTable(file::Header& header) : header_(header) {}

  uint32_t index(const std::string& text) {
    const auto [entry, fresh] = indices_.try_emplace(text, static_cast<uint32_t>(indices_.size()));
    if (fresh) header_.add_texts(text);
    return entry->second;
  }

 private:
  file::Header& header_;
  std::unordered_map<std::string, uint32_t> indices_;
};

void encode(const isa::Effect& effect, file::Effect& out) {
  const isa::Effect usual;
  if (effect.bytes != usual.bytes) out.set_bytes(effect.bytes);
  if (effect.wavefronts != usual.wavefronts) out.set_wavefronts(effect.wavefronts);
  if (effect.stream != usual.stream) out.set_stream(static_cast<uint32_t>(effect.stream));
  if (effect.barrier != usual.barrier) out.set_barrier(static_cast<uint32_t>(effect.barrier));
  if (effect.cursor != usual.cursor) out.set_cursor(static_cast<uint32_t>(effect.cursor));
  if (effect.advance != usual.advance) out.set_advance(effect.advance);
  if (effect.tx_bytes != usual.tx_bytes) out.set_tx_bytes(effect.tx_bytes);
  if (effect.count != usual.count) out.set_count(effect.count);
  if (effect.l2_passes != usual.l2_passes) out.set_l2_passes(effect.l2_passes);
  if (effect.l2_sectors != usual.l2_sectors) out.set_l2_sectors(effect.l2_sectors);
  if (effect.multicast != usual.multicast) out.set_multicast(effect.multicast);
  if (effect.commit) out.set_commit(true);
  if (effect.l1_hit) out.set_l1_hit(true);
  if (effect.rows != usual.rows) out.set_rows(effect.rows);
  if (effect.columns != usual.columns) out.set_columns(effect.columns);
}

void encode(const isa::Guard& guard, file::Guard& out) {
  if (guard.predicate != isa::kTruePredicate) out.set_predicate(guard.predicate);
  if (guard.negated) out.set_negated(true);
  if (guard.uniform) out.set_uniform(true);
}

class KernelEncoder {
 public:
  KernelEncoder(const isa::Architecture& architecture, TextTable& texts) : architecture_(architecture), texts_(texts) {}

  void encode(const Kernel& kernel, file::Kernel& out) {
    const Kernel usual;
    out.set_name(kernel.name);
    if (!kernel.source.empty()) out.set_source(kernel.source);
    for (const std::string& assumed : kernel.assumed) out.add_assumed(assumed);
    if (kernel.cluster_ctas != usual.cluster_ctas) out.set_cluster_ctas(kernel.cluster_ctas);
    if (kernel.registers_per_thread != usual.registers_per_thread) out.set_registers_per_thread(kernel.registers_per_thread);
    if (kernel.shared_memory_bytes != 0) out.set_shared_memory_bytes(kernel.shared_memory_bytes);
    if (kernel.tensor_memory_columns != 0) out.set_tensor_memory_columns(kernel.tensor_memory_columns);
    if (kernel.flops != 0) out.set_flops(kernel.flops);
    encode_resources(kernel, out);
    for (const std::string& parameter : kernel.parameters) out.add_parameters(parameter);
    for (const CtaClass& cta_class : kernel.cta_classes) {
      file::CtaClass& message = *out.add_cta_classes();
      message.set_name(cta_class.name);
      for (const uint64_t value : cta_class.values) message.add_values(value);
    }
    for (const CtaRun& run : kernel.grid) {
      file::CtaRun& message = *out.add_grid();
      if (run.cta_class != 0) message.set_cta_class(run.cta_class);
      if (run.count != 1) message.set_count(run.count);
    }
    for (const Role& role : kernel.roles) {
      file::Role& message = *out.add_roles();
      message.set_name(role.name);
      if (role.warps != 1) message.set_warps(role.warps);
      encode(role.body, *message.mutable_body());
    }
  }

 private:
  static void encode_resources(const Kernel& kernel, file::Kernel& out) {
    for (const Ring& ring : kernel.rings) {
      file::Ring& message = *out.add_rings();
      message.set_name(ring.name);
      if (ring.depth != 1) message.set_depth(ring.depth);
      if (ring.arrivals != 1) message.set_arrivals(ring.arrivals);
      if (ring.starts_free) message.set_starts_free(true);
    }
    for (const Cursor& cursor : kernel.cursors) {
      file::Cursor& message = *out.add_cursors();
      message.set_name(cursor.name);
      if (cursor.depth != 1) message.set_depth(cursor.depth);
      if (cursor.start != 0) message.set_start(cursor.start);
    }
    for (const MemoryStream& stream : kernel.streams) {
      file::MemoryStream& message = *out.add_streams();
      message.set_name(stream.name);
      if (stream.write) message.set_write(true);
      if (stream.dram_numerator != 0) message.set_dram_numerator(stream.dram_numerator);
      if (stream.dram_denominator != 1) message.set_dram_denominator(stream.dram_denominator);
      if (stream.l1_numerator != 0) message.set_l1_numerator(stream.l1_numerator);
      if (stream.l1_denominator != 1) message.set_l1_denominator(stream.l1_denominator);
      if (stream.moved_numerator != 1) message.set_moved_numerator(stream.moved_numerator);
      if (stream.moved_denominator != 1) message.set_moved_denominator(stream.moved_denominator);
      if (stream.footprint != 0) message.set_footprint(stream.footprint);
    }
  }

  void encode(const std::vector<Node>& body, google::protobuf::RepeatedPtrField<file::Node>& out) {
    for (const Node& node : body) {
      file::Node& message = *out.Add();
      if (const auto* block = std::get_if<Block>(&node)) {
        file::Block& code = *message.mutable_block();
        for (const isa::Instruction& instruction : block->code) encode(instruction, *code.add_code());
      } else {
        const Loop& loop = std::get<Loop>(node);
        file::Loop& inner = *message.mutable_loop();
        if (loop.trips.literal != 1) inner.set_trips(loop.trips.literal);
        if (loop.trips.parameter >= 0) inner.set_parameter(static_cast<uint32_t>(loop.trips.parameter));
        encode(loop.body, *inner.mutable_body());
      }
    }
  }

  void encode(const isa::Instruction& instruction, file::Instruction& out) {
    const std::string text = isa::format_instruction(instruction);
    if (isa::parse_instruction(architecture_, text, {}, 0) != instruction) {
      throw std::logic_error("an instruction's fields differ from its text: " + text);
    }
    out.set_mnemonic(texts_.index(instruction.mnemonic));
    for (const isa::Operand& operand : instruction.operands) out.add_operands(texts_.index(operand.text));
    if (instruction.control != isa::ControlCode{}) out.set_control(pack_control(instruction.control));
    if (instruction.guard.present) traces::encode(instruction.guard, *out.mutable_guard());
    if (instruction.effect != isa::Effect{}) traces::encode(instruction.effect, *out.mutable_effect());
  }

  const isa::Architecture& architecture_;
  TextTable& texts_;
};

Expected<void> check_all(const std::string& path, const std::vector<Kernel>& kernels) {
  if (kernels.empty()) {
    return fail_at(path, 0, 0, "no kernels to write");
  }
  for (const Kernel& kernel : kernels) {
    if (Expected<void> valid = validate(kernel, path); !valid) return valid;
    if (kernel.architecture != kernels.front().architecture) {
      return fail_at(path, 0, 0,
                     "kernel " + escape::unquoted(kernel.name) + " is for " + escape::unquoted(kernel.architecture) +
                         " and kernel " + escape::unquoted(kernels.front().name) + " for " + kernels.front().architecture +
                         ": a trace file holds kernels of one architecture");
    }
  }
  return {};
}

}  // namespace

Expected<std::string> encode_kernels(const std::string& path, const std::vector<Kernel>& kernels) {
  if (const Expected<void> checked = check_all(path, kernels); !checked) {
    return std::unexpected(checked.error());
  }
  const std::string& architecture = kernels.front().architecture;
  file::Header header;
  header.set_magic(std::string(kTraceMagic));
  header.set_format_version(kTraceFormatVersion);
  header.set_architecture(architecture);
  header.set_producer("warpfold " WARPFOLD_VERSION);
  header.set_kernels(kernels.size());
  TextTable texts(header);
  KernelEncoder encoder(*isa::Architecture::find(architecture).value(), texts);
  std::vector<file::Kernel> messages(kernels.size());
  for (size_t k = 0; k < kernels.size(); ++k) encoder.encode(kernels[k], messages[k]);

  std::string content;
  {
    google::protobuf::io::StringOutputStream stream(&content);
    google::protobuf::util::SerializeDelimitedToZeroCopyStream(header, &stream);
    for (const file::Kernel& message : messages) google::protobuf::util::SerializeDelimitedToZeroCopyStream(message, &stream);
  }
  return content;
}

}  // namespace warpfold::traces
