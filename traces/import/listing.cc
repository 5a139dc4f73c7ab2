#include "traces/import/listing.h"

#include <algorithm>
#include <optional>

#include "configs/escape/quoted.h"
#include "isa/assembler.h"
#include "traces/import/annotations.h"
#include "traces/import/encoding.h"
#include "traces/import/listed_resources.h"
#include "traces/import/listed_sections.h"
#include "traces/import/words.h"

namespace warpfold::sass {
namespace {

constexpr std::string_view kSourceLine = "//## File ";

// Removes a comment /* ... */ from the end of the line and returns its word, the encoding.
std::optional<std::string_view> take_comment(std::string_view& line) {
  if (!line.ends_with("*/")) return std::nullopt;
  const size_t open = line.rfind("/*");
  if (open == std::string_view::npos) return std::nullopt;
  const std::string_view word = trimmed(line.substr(open + 2, line.size() - open - 4));
  line = trimmed(line.substr(0, open));
  return word;
}

bool label_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$'; }

// Returns ".L_x_2" for ".L_x_2:".
std::optional<std::string_view> label_of(std::string_view line) {
  if (!line.ends_with(':')) return std::nullopt;
  line.remove_suffix(1);
  // ".L_x_3", or "$__internal_0_$__cuda_sm20_div_u64" of a function inside this one.
  const bool local = line.starts_with('.') || line.starts_with('$');
  if (!local || !std::ranges::all_of(line, label_character)) return std::nullopt;
  return line;
}

// True for "REDUX.SUM.S32", and false for words of a header such as "Fatbin" and "REG:10".
bool looks_like_opcode(std::string_view word) {
  const std::string_view base = word.substr(0, word.find('.'));
  return base.size() > 1 && std::ranges::all_of(base, [](char c) {
           return std::isupper(static_cast<unsigned char>(c)) != 0 || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '_';
         });
}

// Returns "LDG.E" for "@!P0 LDG.E R2, [R4.64] ;".
std::string_view mnemonic_of(std::string_view line) {
  if (line.starts_with('@')) line = trimmed(line.substr(std::min(line.find_first_of(" \t"), line.size())));
  return line.substr(0, line.find_first_of(" \t;"));
}

bool names_target(isa::Behaviour behaviour, std::string_view mnemonic) {
  return behaviour == isa::Behaviour::kBranch || mnemonic.starts_with("BSSY") || mnemonic.starts_with("WARPSYNC");
}

class Reader {
 public:
  Reader(const std::string& file, const isa::Architecture& architecture, std::string_view compiled_for,
         std::span<const AssumedOpcode> assumed)
      : architecture_(architecture), compiled_for_(compiled_for), assumed_(assumed) {
    listing_.file = file;
    listing_.architecture = architecture.name();
  }

  Expected<Listing> read(std::string_view text) {
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
    resources_.add_to(listing_.functions, sections_.architecture().empty() ? listing_.architecture : own_architecture_);
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
    if (!line.starts_with('[')) sections_.read(line);
    if (is_foreign()) return skip_section();
    if (own_architecture_.empty()) own_architecture_ = sections_.architecture();
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

  // True in PTX, and in code of another architecture in a dump of several.
  bool is_foreign() const {
    return sections_.is_ptx() ||
           (!compiled_for_.empty() && !sections_.architecture().empty() && sections_.architecture() != compiled_for_);
  }

  Expected<void> skip_section() {
    finish_function();
    open_ = false;
    return {};
  }

  // Accepts a line that is neither an instruction nor a directive, such as a header of cuobjdump. Fails for an
  // instruction without its end.
  Expected<void> read_remark(std::string_view line, bool whole) const {
    const bool cut = line.front() == '@' || looks_like_opcode(line.substr(0, line.find(' ')));
    if (!whole || cut) {
      return wrong("the listing breaks off: expected ; at the end of an instruction");
    }
    return {};
  }

  Expected<void> begin_section(std::string_view line) {
    const std::string_view name = trimmed(line.substr(8));
    resources_.begin_section(name);
    if (name.starts_with(".text.")) {
      // ".text.NAME,"ax",@progbits": a demangled name may contain commas.
      size_t end = name.find('"');
      end = end == std::string_view::npos ? end : name.rfind(',', end);
      return begin_function(name.substr(6, end == std::string_view::npos ? end : end - 6));
    }
    open_ = false;
    finish_function();
    return {};
  }

  // nvdisasm prints a section's label after its header. Without a header the label begins the function.
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

  // Reads a source line that nvdisasm -g prints before the first instruction of the line, for code compiled with
  // -lineinfo: //## File "gemm.cu", line 12. With -gi, one more line follows for each call around inlined code.
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
    std::string_view prefix;
    if (auto taken = take_prefix(line, prefix); !taken) return taken;
    if (auto taken = take_offset(line, listed); !taken) return taken;
    if (const auto encoding = take_comment(line)) {
      if (!hexadecimal(*encoding))
        return wrong("expected an encoding, as /* 0x00000a00ff017624 */, not " + escape::quoted(*encoding));
      wants_high_word_ = true;
    }
    if (!line.ends_with(';')) return wrong("expected ; at the end of an instruction");
    std::string without_targets;
    take_branch_targets(line, without_targets, listed.targets);
    const auto annotated = take_annotations(line);
    auto instruction = parse(prefix, line);
    if (instruction) {
      listed.instruction = *std::move(instruction);
    } else if (auto other = stand_in(prefix, line)) {
      listed.instruction = *std::move(other);
      listed.assumed_opcode = mnemonic_of(line);
    } else {
      listed.unreadable = instruction.error();
      listed.instruction.mnemonic = mnemonic_of(line);
      if (!architecture_.resolve(listed.instruction.mnemonic)) {
        listed.unreadable->message +=
            " (to go on, state its pipe and latency: --assume " + escape::unquoted(listed.instruction.mnemonic) + "=alu,4)";
      }
      listed.instruction.opcode = *architecture_.resolve("NOP");
    }
    if (annotated) listed.instruction.control = *annotated;
    listed.has_control = annotated || !prefix.empty();
    listed.instruction.place = {listing_.file + ":" + std::to_string(line_), sources_};
    sources_used_ = true;
    if (names_target(architecture_.info(listed.instruction).behaviour, listed.instruction.mnemonic)) find_target(listed);
    function_.code.push_back(std::move(listed));
    return {};
  }

  Expected<isa::Instruction> parse(std::string_view prefix, std::string_view line) const {
    if (prefix.empty()) return isa::parse_instruction(architecture_, line, listing_.file, line_);
    return isa::parse_instruction(architecture_, std::string(prefix) + " " + std::string(line), listing_.file, line_);
  }

  // Parses the line with a known opcode in place of its own, as the user states. Returns nullopt if there is no
  // statement or no opcode that fits.
  std::optional<isa::Instruction> stand_in(std::string_view prefix, std::string_view line) const {
    const std::string_view mnemonic = mnemonic_of(line);
    const auto assumed = std::ranges::find_if(assumed_, [&](const AssumedOpcode& each) { return each.covers(mnemonic); });
    if (assumed == assumed_.end() || architecture_.resolve(mnemonic)) return std::nullopt;
    const auto at = static_cast<size_t>(mnemonic.data() - line.data());
    for (const std::string& name : stand_ins(architecture_, *assumed)) {
      auto other = parse(prefix, std::string(line.substr(0, at)) + name + std::string(line.substr(at + mnemonic.size())));
      if (other) return *std::move(other);
    }
    return std::nullopt;
  }

  // Takes a control code in CuAssembler's form: "[B0-----:R-:W1:-:S02] /*01f0*/ BSYNC B0 ;".
  Expected<void> take_prefix(std::string_view& line, std::string_view& prefix) const {
    if (!line.starts_with('[')) return {};
    const size_t end = line.find(']');
    if (end == std::string_view::npos) return wrong("expected a control code, as [B0-----:R-:W1:-:S02]");
    prefix = line.substr(0, end + 1);
    line = trimmed(line.substr(end + 1));
    return {};
  }

  // Takes the offset of "/*01f0*/ BSYNC B0 ;".
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

  // Takes the targets from BRX R6 -0x150 (*"BRANCH_TARGETS .L_x_25,.L_x_26,.L_x_3"*); as nvdisasm prints it. `rest`
  // owns the new text of `line`.
  static void take_branch_targets(std::string_view& line, std::string& rest, std::vector<std::string>& targets) {
    constexpr std::string_view kOpen = "(*\"BRANCH_TARGETS ";
    constexpr std::string_view kClose = "\"*)";
    const size_t open = line.find(kOpen);
    const size_t close = line.find(kClose, open == std::string_view::npos ? 0 : open);
    if (open == std::string_view::npos || close == std::string_view::npos) return;
    std::string_view names = line.substr(open + kOpen.size(), close - open - kOpen.size());
    while (!names.empty()) {
      const size_t comma = names.find(',');
      targets.emplace_back(trimmed(names.substr(0, comma)));
      names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    }
    rest = std::string(trimmed(line.substr(0, open))) + " " + std::string(trimmed(line.substr(close + kClose.size())));
    line = rest;
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
      for (const std::string& target : listed.targets) {
        if (function.labels.contains(target)) continue;
        return fail_at(listing_.file, listed.line, 1,
                       "no label " + escape::unquoted(target) + " in function " + escape::unquoted(function.name) +
                           "; the listing may have been cut off");
      }
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
  std::string_view compiled_for_;  // architecture whose code is read; empty: all
  std::span<const AssumedOpcode> assumed_;
  Listing listing_;
  Sections sections_;
  std::string own_architecture_;  // architecture of the code that is read, as named in the listing
  Function function_;
  bool open_ = false;
  Resources resources_;
  bool wants_high_word_ = false;
  std::vector<std::string> sources_;  // source lines of the next instructions
  bool sources_used_ = false;
  int line_ = 0;
};

}  // namespace

Expected<Listing> read_listing(const std::string& file, std::string_view text, const isa::Architecture& architecture,
                               std::string_view compiled_for, std::span<const AssumedOpcode> assumed) {
  return Reader(file, architecture, compiled_for, assumed).read(text);
}

}  // namespace warpfold::sass
