#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/util/delimited_message_util.h>

#include <limits>
#include <optional>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "isa/assembler.h"
#include "traces/packed_control.h"
#include "traces/trace.pb.h"
#include "traces/trace_encoding.h"
#include "traces/validate.h"

namespace warpfold::traces {

namespace {

// Longer than any mnemonic or operand. Instructions refer to texts by number: without a limit, a small hostile file
// could name one huge text a million times.
constexpr int kLongestText = 1024;

// Decodes the message of one kernel. The first problem persists and ends the decoding.
class KernelDecoder {
 public:
  KernelDecoder(const isa::Architecture& architecture, const file::Header& header)
      : architecture_(architecture), texts_(header.texts()) {}

  const std::optional<std::string>& problem() const { return problem_; }

  Kernel decode(const file::Kernel& message) {
    Kernel kernel;
    kernel.name = message.name();
    kernel.architecture = architecture_.name();
    kernel.source = message.source();
    kernel.assumed.assign(message.assumed().begin(), message.assumed().end());
    if (message.has_cluster_ctas()) kernel.cluster_ctas = message.cluster_ctas();
    if (message.has_registers_per_thread()) kernel.registers_per_thread = message.registers_per_thread();
    kernel.shared_memory_bytes = message.shared_memory_bytes();
    kernel.tensor_memory_columns = message.tensor_memory_columns();
    kernel.flops = message.flops();
    decode_resources(message, kernel);
    kernel.parameters.assign(message.parameters().begin(), message.parameters().end());
    for (const file::CtaClass& cta_class : message.cta_classes()) {
      kernel.cta_classes.push_back({cta_class.name(), {cta_class.values().begin(), cta_class.values().end()}});
    }
    for (const file::CtaRun& run : message.grid()) {
      kernel.grid.push_back({run.cta_class(), run.has_count() ? run.count() : 1});
    }
    for (const file::Role& role : message.roles()) {
      place_ = "kernel " + escape::unquoted(kernel.name) + ", role " + escape::unquoted(role.name());
      position_ = 0;
      kernel.roles.push_back({role.name(), role.has_warps() ? role.warps() : 1, decode(role.body())});
    }
    return kernel;
  }

 private:
  static void decode_resources(const file::Kernel& message, Kernel& kernel) {
    for (const file::Ring& ring : message.rings()) {
      kernel.rings.push_back(
          {ring.name(), ring.has_depth() ? ring.depth() : 1, ring.has_arrivals() ? ring.arrivals() : 1, ring.starts_free()});
    }
    for (const file::Cursor& cursor : message.cursors()) {
      kernel.cursors.push_back({cursor.name(), cursor.has_depth() ? cursor.depth() : 1, cursor.start()});
    }
    for (const file::MemoryStream& stream : message.streams()) {
      kernel.streams.push_back({stream.name(), stream.write(), stream.dram_numerator(),
                                stream.has_dram_denominator() ? stream.dram_denominator() : 1, stream.footprint(),
                                stream.l1_numerator(), stream.has_l1_denominator() ? stream.l1_denominator() : 1,
                                stream.has_moved_numerator() ? stream.moved_numerator() : 1,
                                stream.has_moved_denominator() ? stream.moved_denominator() : 1});
    }
  }

  std::vector<Node> decode(const google::protobuf::RepeatedPtrField<file::Node>& messages) {
    std::vector<Node> body;
    for (const file::Node& message : messages) {
      if (problem_) break;
      if (message.has_block()) {
        Block block;
        for (const file::Instruction& instruction : message.block().code()) {
          if (problem_) break;
          block.code.push_back(decode(instruction));
        }
        body.emplace_back(std::move(block));
      } else if (message.has_loop()) {
        Loop loop;
        if (message.loop().has_trips()) loop.trips.literal = message.loop().trips();
        if (message.loop().has_parameter()) loop.trips.parameter = narrow<int32_t>(message.loop().parameter(), "parameter");
        loop.body = decode(message.loop().body());
        body.emplace_back(std::move(loop));
      } else {
        report("neither a block nor a loop follows");
      }
    }
    return body;
  }

  isa::Instruction decode(const file::Instruction& message) {
    ++position_;
    isa::Instruction bare;
    bare.mnemonic = text(message.mnemonic());
    if (message.has_guard()) bare.guard = decode(message.guard());
    for (const uint32_t operand : message.operands()) {
      bare.operands.emplace_back().text = text(operand);
    }
    isa::Instruction instruction = parse(bare);
    const uint32_t control = message.has_control() ? message.control() : pack_control({});
    if (control >= kPackedControlLimit) report("control code " + std::to_string(control) + " has more than 17 bits");
    instruction.control = unpack_control(control);
    if (message.has_effect()) instruction.effect = decode(message.effect());
    return instruction;
  }

  // The assembler is the only parser of operands, so the texts pass through it as a line of assembly.
  isa::Instruction parse(const isa::Instruction& bare) {
    if (problem_) return {};
    Expected<isa::Instruction> parsed = isa::parse_instruction(architecture_, isa::format_instruction(bare), {}, 0);
    if (!parsed) {
      report(parsed.error().message);
      return {};
    }
    bool same = parsed->mnemonic == bare.mnemonic && parsed->guard == bare.guard && parsed->operands.size() == bare.operands.size();
    for (size_t i = 0; same && i < bare.operands.size(); ++i) same = parsed->operands[i].text == bare.operands[i].text;
    if (!same) report(escape::quoted(bare.mnemonic) + " and its operands are not one instruction");
    return *std::move(parsed);
  }

  isa::Guard decode(const file::Guard& message) {
    isa::Guard guard{.present = true, .negated = message.negated(), .uniform = message.uniform()};
    if (message.has_predicate()) guard.predicate = narrow<uint8_t>(message.predicate(), "guard predicate");
    if (guard.predicate > isa::kTruePredicate)
      report("guard predicate " + std::to_string(guard.predicate) + "; predicates are 0-7");
    return guard;
  }

  isa::Effect decode(const file::Effect& message) {
    isa::Effect effect;
    effect.bytes = message.bytes();
    effect.wavefronts = narrow<uint16_t>(message.wavefronts(), "wavefronts");
    if (message.has_stream()) effect.stream = narrow<int16_t>(message.stream(), "stream");
    if (message.has_barrier()) effect.barrier = narrow<int16_t>(message.barrier(), "barrier");
    if (message.has_cursor()) effect.cursor = narrow<int16_t>(message.cursor(), "cursor");
    effect.advance = message.advance();
    effect.tx_bytes = message.tx_bytes();
    effect.count = narrow<uint16_t>(message.count(), "count");
    if (message.has_l2_passes()) effect.l2_passes = narrow<uint16_t>(message.l2_passes(), "l2_passes");
    effect.l2_sectors = message.l2_sectors();
    if (message.has_multicast()) effect.multicast = narrow<uint8_t>(message.multicast(), "multicast");
    effect.commit = message.commit();
    effect.l1_hit = message.l1_hit();
    effect.rows = narrow<uint16_t>(message.rows(), "rows");
    effect.columns = narrow<uint16_t>(message.columns(), "columns");
    return effect;
  }

  std::string text(uint32_t index) {
    if (index >= static_cast<uint32_t>(texts_.size())) {
      report("text " + std::to_string(index) + " does not exist; the file has " + std::to_string(texts_.size()));
      return {};
    }
    return texts_[static_cast<int>(index)];
  }

  template <typename Narrow>
  Narrow narrow(uint32_t value, const char* what) {
    constexpr auto kLargest = static_cast<uint32_t>(std::numeric_limits<Narrow>::max());
    if (value > kLargest) report(std::string(what) + " " + std::to_string(value) + " is more than " + std::to_string(kLargest));
    return static_cast<Narrow>(value);
  }

  void report(const std::string& what) {
    if (!problem_) problem_ = place_ + ", instruction " + std::to_string(position_) + ": " + what;
  }

  const isa::Architecture& architecture_;
  const google::protobuf::RepeatedPtrField<std::string>& texts_;
  std::string place_;
  uint64_t position_ = 0;
  std::optional<std::string> problem_;
};

// Every version that adds a field also changes kTraceFormatVersion. An unknown field therefore means a damaged or
// forged file.
bool has_unknown_fields(google::protobuf::Message& message) {
  const size_t before = message.ByteSizeLong();
  message.DiscardUnknownFields();
  return message.ByteSizeLong() != before;
}

Expected<const isa::Architecture*> check_header(const std::string& path, file::Header& header) {
  if (header.magic() != kTraceMagic) {
    return fail_at(path, 0, 0, "not a Warpfold trace: the content does not begin with a trace header");
  }
  if (header.format_version() != kTraceFormatVersion) {
    return fail_at(path, 0, 0,
                   "trace format version " + std::to_string(header.format_version()) + " (written by " +
                       escape::quoted(header.producer()) + "); this program reads version " + std::to_string(kTraceFormatVersion));
  }
  if (has_unknown_fields(header)) {
    return fail_at(path, 0, 0, "damaged trace: the header has fields that this format version does not have");
  }
  for (const std::string& text : header.texts()) {
    if (text.size() > kLongestText) {
      return fail_at(path, 0, 0,
                     "damaged trace: a text of " + std::to_string(text.size()) + " bytes; mnemonics and operands have at most " +
                         std::to_string(kLongestText));
    }
  }
  Expected<const isa::Architecture*> architecture = isa::Architecture::find(header.architecture());
  if (!architecture) architecture.error().file = path;
  return architecture;
}

Expected<Kernel> decode_kernel(const std::string& path, const isa::Architecture& architecture, const file::Header& header,
                               file::Kernel& message) {
  if (has_unknown_fields(message)) {
    return fail_at(path, 0, 0, "damaged trace: kernel " + message.name() + " has fields that this format version does not have");
  }
  KernelDecoder decoder(architecture, header);
  Kernel kernel = decoder.decode(message);
  if (decoder.problem()) {
    return fail_at(path, 0, 0, *decoder.problem());
  }
  if (const Expected<void> valid = validate(kernel, path); !valid) {
    return std::unexpected(valid.error());
  }
  return kernel;
}

}  // namespace

Expected<std::vector<Kernel>> decode_kernels(const std::string& path, std::string_view content) {
  google::protobuf::io::ArrayInputStream stream(content.data(), static_cast<int>(content.size()));
  file::Header header;
  bool ended = false;
  if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&header, &stream, &ended)) {
    return fail_at(path, 0, 0, "not a Warpfold trace: the content does not begin with a trace header");
  }
  const Expected<const isa::Architecture*> architecture = check_header(path, header);
  if (!architecture) {
    return std::unexpected(architecture.error());
  }
  if (header.kernels() == 0) {
    return fail_at(path, 0, 0, "the trace holds no kernels");
  }
  std::vector<Kernel> kernels;
  for (uint64_t k = 0; k < header.kernels(); ++k) {
    const std::string which = "kernel " + std::to_string(k + 1) + " of " + std::to_string(header.kernels());
    file::Kernel message;
    if (!google::protobuf::util::ParseDelimitedFromZeroCopyStream(&message, &stream, &ended)) {
      return fail_at(path, 0, 0, ended ? "truncated: " + which + " is missing" : "damaged trace: " + which + " cannot be decoded");
    }
    Expected<Kernel> kernel = decode_kernel(path, **architecture, header, message);
    if (!kernel) {
      return std::unexpected(kernel.error());
    }
    kernels.push_back(*std::move(kernel));
  }
  const int64_t left = static_cast<int64_t>(content.size()) - stream.ByteCount();
  if (left != 0) {
    return fail_at(path, 0, 0, std::to_string(left) + " trailing bytes after the last kernel");
  }
  return kernels;
}

}  // namespace warpfold::traces
