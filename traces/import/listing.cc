#include "traces/import/listing.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "escape/quoted.h"
#include "isa/assembler.h"
#include "traces/import/encoding.h"
#include "traces/import/listed_resources.h"

namespace warpfold::sass {
namespace {

constexpr uint64_t kInstructionBytes = 16;  // sm_70 on
constexpr std::string_view kSourceLine = "//## File ";

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

std::optional<uint64_t> hexadecimal(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The word in /* ... */ at the end of the line, which is cut off: an encoding.
std::optional<std::string_view> take_comment(std::string_view& line) {
  if (!line.ends_with("*/")) return std::nullopt;
  const size_t open = line.rfind("/*");
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view word = trimmed(line.substr(open + 2, line.size() - open - 4));
  line = trimmed(line.substr(0, open));
  return word;
}

bool label_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; }

// ".L_x_2:" -> ".L_x_2"
std::optional<std::string_view> label_of(std::string_view line) {
  if (!line.ends_with(':')) return std::nullopt;
  line.remove_suffix(1);
  // ".L_x_3", and "$__internal_0_$__cuda_sm20_div_u64" of a function inside this one.
  const bool local = line.starts_with('.') || line.starts_with('$');
  if (!local || !std::ranges::all_of(line, label_character)) return std::nullopt;
  return line;
}

bool names_target(isa::Behaviour behaviour, std::string_view mnemonic) {
  return behaviour == isa::Behaviour::kBranch || mnemonic.starts_with("BSSY") || mnemonic.starts_with("WARPSYNC");
}

class Reader {
 public:
  Reader(const std::string& file, const isa::Architecture& architecture) : architecture_(architecture) {
    listing_.file = file;
    listing_.architecture = architecture.name();
  }

  Expected<Listing> read(std::string_view text) {
    const std::string compiled_for = architecture_of(text);
    while (!text.empty()) {
      const size_t end = text.find('\n');
      ++line_;
      const bool whole = end != std::string_view::npos;
      if (auto read = read_line(trimmed(text.substr(0, end)), whole); !read) return std::unexpected(read.error());
      if (!whole) break;
      text.remove_prefix(end + 1);
    }
    if (wants_high_word_) return wrong("the listing breaks off: the second word of the encoding is missing");
    finish_function();
    resources_.add_to(listing_.functions, compiled_for.empty() ? listing_.architecture : compiled_for);
    if (listing_.functions.empty()) return wrong("no function; expected the text of cuobjdump -sass or nvdisasm");
    for (const Function& function : listing_.functions) {
      if (auto checked = check_labels(function); !checked) return std::unexpected(checked.error());
    }
    return std::move(listing_);
  }

 private:
  std::unexpected<Diagnostic> wrong(std::string message) const { return fail_at(listing_.file, line_, 1, std::move(message)); }

  Expected<void> read_line(std::string_view line, bool whole) {
    if (line.starts_with(kSourceLine)) return add_source(line);
    if (const size_t remark = line.find("//"); remark != std::string_view::npos) line = trimmed(line.substr(0, remark));
    if (line.empty() || line.starts_with('#')) return {};
    if (wants_high_word_) return read_high_word(line);
    if (line.starts_with(".section\t") || line.starts_with(".section ")) return begin_section(line);
    if (const auto registers = number_after(line, "SHI_REGISTERS="); registers && open_) {
      function_.registers = *registers;
      function_.registers_line = line_;
    }
    if (resources_.read(line, line_)) return {};
    if (line.starts_with("Function : ")) return begin_function(trimmed(line.substr(11)));
    if (line.starts_with(".text.") && line.ends_with(':')) return begin_text(line.substr(6, line.size() - 7));
    if (const auto label = label_of(line)) return add_label(*label);
    if (!open_ || line.starts_with('.') || line.ends_with(':')) return {};
    if (!line.starts_with("/*") && line.find(';') == std::string_view::npos) return read_remark(line, whole);
    return read_instruction(line);
  }

  // What is neither an instruction nor a directive: headers of cuobjdump. An instruction without its end is not.
  Expected<void> read_remark(std::string_view line, bool whole) const {
    const bool cut = line.front() == '@' || architecture_.resolve(line.substr(0, line.find(' '))).has_value();
    if (!whole || cut) {
      return wrong("the listing breaks off: expected ; at the end of an instruction");
    }
    return {};
  }

  Expected<void> begin_section(std::string_view line) {
    const std::string_view name = trimmed(line.substr(8));
    resources_.begin_section(name);
    if (name.starts_with(".text.")) {
      // ".text.NAME,"ax",@progbits": the name may hold commas where it was demangled.
      const size_t end = name.find(",\"");
      return begin_function(name.substr(6, end == std::string_view::npos ? end : end - 6));
    }
    open_ = false;
    finish_function();
    return {};
  }

  // nvdisasm prints the label of a section behind its header; without a header the label is the beginning.
  Expected<void> begin_text(std::string_view name) {
    return open_ && function_.code.empty() ? Expected<void>{} : begin_function(name);
  }

  Expected<void> begin_function(std::string_view name) {
    finish_function();
    function_ = {};
    function_.name = name;
    function_.line = line_;
    open_ = true;
    sources_.clear();
    return {};
  }

  // nvdisasm -g, of code compiled with -lineinfo, before the first instruction of a line: //## File "gemm.cu", line 12. With -gi a
  // further one for each call around inlined code.
  Expected<void> add_source(std::string_view line) {
    if (sources_used_) sources_.clear();
    sources_used_ = false;
    const size_t open = line.find('"');
    const size_t close = line.find("\", line ", open + 1);
    if (open == std::string_view::npos || close == std::string_view::npos) return {};
    if (const auto number = number_after(line.substr(close), "line ")) {
      sources_.push_back(std::string(line.substr(open + 1, close - open - 1)) + ":" + std::to_string(*number));
    }
    return {};
  }

  void finish_function() {
    if (!function_.code.empty()) listing_.functions.push_back(std::move(function_));
    function_ = {};
  }

  Expected<void> add_label(std::string_view label) {
    if (open_ && !function_.labels.emplace(label, next_offset()).second) {
      return wrong("the label " + std::string(label) + " exists twice");
    }
    return {};
  }

  uint64_t next_offset() const { return function_.code.empty() ? 0 : function_.code.back().offset + kInstructionBytes; }

  Expected<void> read_high_word(std::string_view line) {
    wants_high_word_ = false;
    const auto comment = take_comment(line);
    const auto high = comment ? hexadecimal(*comment) : std::nullopt;
    if (!high || !line.empty()) return wrong("expected the second word of the encoding, as /* 0x000fe40000000f00 */");
    function_.code.back().instruction.control = decode_control(*high);
    function_.code.back().has_control = true;
    return {};
  }

  Expected<void> read_instruction(std::string_view line) {
    ListedInstruction listed;
    listed.line = line_;
    listed.offset = next_offset();
    if (auto taken = take_offset(line, listed); !taken) return taken;
    if (const auto encoding = take_comment(line)) {
      if (!hexadecimal(*encoding))
        return wrong("expected an encoding, as /* 0x00000a00ff017624 */, not " + escape::quoted(*encoding));
      wants_high_word_ = true;
    }
    if (!line.ends_with(';')) return wrong("expected ; at the end of an instruction");
    auto instruction = isa::parse_instruction(architecture_, line, listing_.file, line_);
    if (!instruction) return std::unexpected(instruction.error());
    listed.instruction = *std::move(instruction);
    listed.instruction.place = {listing_.file + ":" + std::to_string(line_), sources_};
    sources_used_ = true;
    if (names_target(architecture_.info(listed.instruction).behaviour, listed.instruction.mnemonic)) find_target(listed);
    function_.code.push_back(std::move(listed));
    return {};
  }

  // "/*01f0*/ BSYNC B0 ;"
  Expected<void> take_offset(std::string_view& line, ListedInstruction& listed) const {
    if (!line.starts_with("/*")) return {};
    const size_t end = line.find("*/");
    const auto offset = end == std::string_view::npos ? std::nullopt : hexadecimal(line.substr(2, end - 2));
    if (!offset) return wrong("expected the offset of an instruction, as /*01f0*/");
    if (*offset % kInstructionBytes != 0) {
      return wrong("instructions of 128 bits begin at multiples of 16; this one begins at " + std::string(line.substr(2, end - 2)) +
                   ", as before sm_70");
    }
    if (!function_.code.empty() && *offset != next_offset()) return wrong("an instruction is missing before this one");
    listed.offset = *offset;
    line = trimmed(line.substr(end + 2));
    return {};
  }

  static void find_target(ListedInstruction& listed) {
    for (const isa::Operand& operand : listed.instruction.operands) {
      std::string_view text = operand.text;
      if (text.starts_with("`(") && text.ends_with(')')) listed.label = text.substr(2, text.size() - 3);
      if (operand.kind != isa::OperandKind::kImmediate) continue;
      if (const auto offset = hexadecimal(text)) listed.target = static_cast<int64_t>(*offset);
    }
  }

  Expected<void> check_labels(const Function& function) const {
    for (const ListedInstruction& listed : function.code) {
      if (listed.label.empty() || function.labels.contains(listed.label) ||
          !(listed.label.starts_with('.') || listed.label.starts_with('$')))
        continue;
      return fail_at(listing_.file, listed.line, 1,
                     "no label " + escape::unquoted(listed.label) + " in function " + escape::unquoted(function.name) +
                         "; the listing may have been cut off");
    }
    return {};
  }

  const isa::Architecture& architecture_;
  Listing listing_;
  Function function_;
  bool open_ = false;
  Resources resources_;
  bool wants_high_word_ = false;
  std::vector<std::string> sources_;  // of the instructions that follow
  bool sources_used_ = false;
  int line_ = 0;
};

}  // namespace

std::string architecture_of(std::string_view text) {
  for (const std::string_view key : {"code for sm_", "EF_CUDA_SM", "arch = sm_", ".target\tsm_", ".target sm_"}) {
    if (const auto number = number_after(text, key)) return "sm_" + std::to_string(*number);
  }
  return {};
}

Expected<Listing> read_listing(const std::string& file, std::string_view text, const isa::Architecture& architecture) {
  return Reader(file, architecture).read(text);
}

}  // namespace warpfold::sass
