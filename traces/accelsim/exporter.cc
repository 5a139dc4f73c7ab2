#include "traces/accelsim/exporter.h"

#include <array>
#include <bit>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <string>
#include <vector>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"
#include "traces/accelsim/static_code.h"
#include "traces/accelsim/synthetic_addresses.h"
#include "traces/accelsim/trace_line.h"
#include "traces/access/opcode_access.h"

namespace warpfold::traces::accelsim {
namespace {

using access::Access;
using isa::Behaviour;

constexpr size_t kPiece = size_t{1} << 16;
constexpr uint64_t kInstructionBytes = 16;

bool exportable(Behaviour behaviour) {
  switch (behaviour) {
    case Behaviour::kMbarrierWait:
    case Behaviour::kMbarrierArrive:
    case Behaviour::kBulkLoad:
    case Behaviour::kBulkStore:
    case Behaviour::kBulkWait:
    case Behaviour::kWgmma:
    case Behaviour::kWgmmaArrive:
    case Behaviour::kWgmmaWait:
    case Behaviour::kSetMaxRegisters:
      return false;
    default:
      return true;
  }
}

void append_hexadecimal(std::string& text, uint64_t value, int digits = 1) {
  std::array<char, 16> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
  text.append(static_cast<size_t>(std::max<std::ptrdiff_t>(0, digits - (end - buffer.data()))), '0').append(buffer.data(), end);
}

template <std::integral Number>
std::string numbered(std::string_view name, Number number) {
  return std::string(name).append(std::to_string(number));
}

std::string register_name(const isa::Operand& operand) {
  switch (operand.kind) {
    case isa::OperandKind::kRegister:
      return numbered("R", operand.index);
    case isa::OperandKind::kUniformRegister:
      return numbered("UR", operand.index);
    case isa::OperandKind::kPredicate:
      return numbered("P", operand.index);
    case isa::OperandKind::kUniformPredicate:
      return numbered("UP", operand.index);
    default:
      return "";
  }
}

int64_t integer_of(const std::string& text) {
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 0);
  return *end == '\0' ? value : std::bit_cast<int64_t>(std::strtod(text.c_str(), nullptr));
}

// Line of an instruction: the constant text before and after the addresses.
struct Line {
  std::string front;
  std::string back;
  Access access = Access::kNone;
  bool global = false;
  isa::Effect effect;
  uint32_t bytes = 0;
  int group_lanes = 32;
  uint32_t wavefronts = 0;
  bool addresses = false;
};

class Exporter {
 public:
  Exporter(const Kernel& kernel, const ExportOptions& options, const std::function<void(std::string_view)>& write)
      : kernel_(kernel), options_(options), write_(write), addresses_(kernel) {}

  Expected<void> run() {
    const uint64_t all = kernel_.ctas();
    if (options_.first_cta >= all) {
      return fail("CTA " + std::to_string(options_.first_cta) + " of " + std::to_string(all) + ", counted from 0");
    }
    const uint64_t count = options_.ctas == 0 ? all - options_.first_cta : std::min(options_.ctas, all - options_.first_cta);
    architecture_ = isa::Architecture::find(kernel_.architecture).value();
    for (const Role& role : kernel_.roles) {
      std::vector<Line>& lines = lines_.emplace_back();
      if (auto made = make_lines(role.body, lines); !made) return made;
    }
    header(count);
    uint64_t cta = 0;
    for (const CtaRun& run : kernel_.grid) {
      for (uint64_t i = 0; i < run.count; ++i, ++cta) {
        if (cta < options_.first_cta) continue;
        if (cta - options_.first_cta >= count) break;
        thread_block(cta - options_.first_cta, kernel_.cta_classes[run.cta_class]);
      }
    }
    write_(text_);
    return {};
  }

 private:
  void header(uint64_t ctas) {
    std::string name = kernel_.name;
    for (char& c : name) c = c < ' ' ? '_' : c;
    const auto version = kernel_.architecture.substr(kernel_.architecture.find('_') + 1);
    text_ +=
        "-kernel name = " + name + "\n-kernel id = " + std::to_string(options_.id) + "\n-grid dim = (" + std::to_string(ctas) +
        ",1,1)\n-block dim = (" + std::to_string(32 * kernel_.warps_per_cta()) +
        ",1,1)\n-shmem = " + std::to_string(kernel_.shared_memory_bytes) +
        "\n-nregs = " + std::to_string(kernel_.registers_per_thread) + "\n-binary version = " + version +
        "\n-cuda stream id = 0\n-shmem base_addr = 0x00007d0000000000\n" +
        "-local mem base_addr = 0x00007d0001000000\n-nvbit version = 0\n-accelsim tracer version = 6\n-enable lineinfo = 0\n\n";
    for (const MemoryStream& stream : kernel_.streams) {
      text_ += "#warpfold stream " + stream.name + (stream.write ? " write" : " read") +
               " dram=" + std::to_string(stream.dram_numerator) + "/" + std::to_string(stream.dram_denominator) +
               " l1=" + std::to_string(stream.l1_numerator) + "/" + std::to_string(stream.l1_denominator) +
               (stream.moved_numerator == stream.moved_denominator
                    ? ""
                    : " moved=" + std::to_string(stream.moved_numerator) + "/" + std::to_string(stream.moved_denominator)) +
               (stream.footprint == 0 ? "" : " footprint=" + std::to_string(stream.footprint)) + "\n";
    }
    if (kernel_.streams.empty()) text_ += "#warpfold no streams\n";
    text_ +=
        "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
        "[mem_addresses] immediate\n\n\n\n";
  }

  Expected<void> make_lines(const std::vector<Node>& body, std::vector<Line>& lines) {
    for (const Node& node : body) {
      if (const auto* loop = std::get_if<Loop>(&node)) {
        if (auto made = make_lines(loop->body, lines); !made) return made;
        continue;
      }
      for (const isa::Instruction& instruction : std::get<Block>(node).code) {
        if (!exportable(architecture_->info(instruction).behaviour)) {
          return fail("kernel " + escape::unquoted(kernel_.name) + ": " + instruction.mnemonic +
                      " cannot be exported: mbarriers, bulk copies and wgmma have operands that a rolled kernel does not keep");
        }
        lines.push_back(make_line(instruction));
      }
    }
    return {};
  }

  Line make_line(const isa::Instruction& instruction) {
    const isa::OpcodeInfo& info = architecture_->info(instruction);
    const bool off = instruction.guard.never();
    Line line;
    append_hexadecimal(line.front, kInstructionBytes * static_count_++, 4);
    line.front += off ? " 00000000" : " ffffffff";
    std::string sources;
    size_t destinations = 0;
    size_t source_count = 0;
    std::string written;
    int64_t immediate = 0;
    const auto source = [&](const std::string& name) {
      sources += " " + name;
      ++source_count;
    };
    for (const isa::Operand& operand : instruction.operands) {
      if (operand.destination) {
        const std::string name = register_name(operand);
        if (name.empty()) continue;
        written += " " + name;
        ++destinations;
      } else if (operand.kind == isa::OperandKind::kMemory) {
        if (operand.uniform_index != isa::kZeroRegister) source(numbered("UR", operand.uniform_index));
        source(numbered("R", operand.index));
      } else if (operand.kind == isa::OperandKind::kImmediate) {
        if (immediate == 0) immediate = integer_of(operand.text);
      } else if (const std::string name = register_name(operand); !name.empty()) {
        source(name);
      }
    }
    // Predicate of a branch. The format has no guards.
    if (info.behaviour == Behaviour::kBranch && instruction.guard.present && !off) {
      source(numbered(instruction.guard.uniform ? "UP" : "P", instruction.guard.predicate));
    }
    std::string mnemonic = instruction.mnemonic;
    if (info.behaviour == Behaviour::kCopyAsyncWait) {
      mnemonic = "DEPBAR.LE";
      immediate = instruction.effect.count;
    }
    if (info.behaviour == Behaviour::kBarrierSync || info.behaviour == Behaviour::kBarrierArrive)
      immediate = instruction.effect.barrier;
    line.front += numbered(" ", destinations) + written + " " + mnemonic + numbered(" ", source_count) + sources;
    line.access = access::access_of(info.behaviour, mnemonic);
    line.addresses = line.access != Access::kNone;
    line.bytes = access::access_bytes(mnemonic);
    line.effect = instruction.effect;
    line.global = access::is_global(line.access);
    line.group_lanes = line.bytes > 8 ? 8 : line.bytes > 4 ? 16 : 32;
    line.wavefronts = instruction.effect.wavefronts;
    if (line.addresses) {
      line.front += numbered(" ", line.access == Access::kMatrix ? 2 : line.bytes);  // the tracer writes width 2 for LDSM
      immediate = 0;
      if (off) {
        line.front += " 1 0x0 0";
        line.addresses = false;
      }
    } else {
      line.front += " 0";
    }
    line.back = numbered(" ", immediate) + " NoVal\n";
    return line;
  }

  void thread_block(uint64_t number, const CtaClass& cta_class) {
    text_ += "#BEGIN_TB\n\nthread block = " + std::to_string(number) + ",0,0\n\n";
    uint32_t warp = 0;
    for (size_t r = 0; r < kernel_.roles.size(); ++r) {
      const Role& role = kernel_.roles[r];
      const std::string head = "\ninsts = " + std::to_string(issued_instructions(kernel_, role, cta_class)) + "\n";
      for (uint32_t w = 0; w < role.warps; ++w, ++warp) {
        text_ += "warp = " + std::to_string(warp) + head;
        size_t at = 0;
        body(role.body, cta_class, lines_[r], at, true);
        text_ += "\n";
      }
    }
    text_ += "#END_TB\n\n";
  }

  void body(const std::vector<Node>& nodes, const CtaClass& cta_class, const std::vector<Line>& lines, size_t& at, bool runs) {
    for (const Node& node : nodes) {
      if (const auto* block = std::get_if<Block>(&node)) {
        for (size_t i = 0; i < block->code.size(); ++i, ++at) {
          if (runs) print(lines[at]);
        }
        continue;
      }
      const Loop& loop = std::get<Loop>(node);
      const uint64_t count = runs ? trips(loop.trips, cta_class) : 0;
      const size_t begin = at;
      body(loop.body, cta_class, lines, at, count > 0);
      for (uint64_t trip = 1; trip < count; ++trip) {
        at = begin;
        body(loop.body, cta_class, lines, at, true);
      }
    }
  }

  void print(const Line& line) {
    text_ += line.front;
    if (line.addresses) print_addresses(line);
    text_ += line.back;
    if (text_.size() < kPiece) return;
    write_(text_);
    text_.clear();
  }

  void print_addresses(const Line& line) {
    if (line.access == Access::kLocal) {
      text_ += " 1 0x7d0001000000 4";
      return;
    }
    const access::LaneAccess access = line.global ? addresses_.global(line.effect, line.bytes)
                                                  : SyntheticAddresses::shared(line.wavefronts, line.bytes, line.group_lanes);
    const auto delta = [&](int lane) { return static_cast<int64_t>(access.addresses[lane] - access.addresses[lane - 1]); };
    bool even = true;
    for (int lane = 2; lane < access::kLanes; ++lane) even = even && delta(lane) == delta(1);
    text_ += even ? " 1 0x" : " 2 0x";
    append_hexadecimal(text_, access.addresses[0]);
    for (int lane = 1; lane < (even ? 2 : access::kLanes); ++lane) text_ += numbered(" ", delta(lane));
  }

  const Kernel& kernel_;
  const ExportOptions& options_;
  const std::function<void(std::string_view)>& write_;
  SyntheticAddresses addresses_;
  const isa::Architecture* architecture_ = nullptr;
  std::vector<std::vector<Line>> lines_;  // by role, in text order
  uint64_t static_count_ = 0;
  std::string text_;
};

}  // namespace

Expected<void> export_kernel(const Kernel& kernel, const ExportOptions& options,
                             const std::function<void(std::string_view)>& write) {
  return Exporter(kernel, options, write).run();
}

}  // namespace warpfold::traces::accelsim
