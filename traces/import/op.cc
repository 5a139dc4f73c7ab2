#include "traces/import/op.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "configs/escape/quoted.h"
#include "traces/import/executors.h"

namespace warpfold::sass {
namespace {

using Kind = Source::Kind;

Kind kind_of(isa::OperandKind kind) {
  switch (kind) {
    case isa::OperandKind::kRegister:
      return Kind::kRegister;
    case isa::OperandKind::kUniformRegister:
      return Kind::kUniform;
    case isa::OperandKind::kPredicate:
      return Kind::kPredicate;
    case isa::OperandKind::kUniformPredicate:
      return Kind::kUniformPredicate;
    case isa::OperandKind::kImmediate:
      return Kind::kImmediate;
    case isa::OperandKind::kConstant:
      return Kind::kConstant;
    case isa::OperandKind::kMemory:
      return Kind::kMemory;
    case isa::OperandKind::kOther:
      break;
  }
  return Kind::kSpecial;
}

uint32_t half_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const int exponent = static_cast<int>(bits >> 23 & 0xff) - 127 + 15;
  const uint32_t fraction = bits >> 13 & 0x3ff;
  if (std::isnan(value)) return sign | 0x7e00;
  if (exponent >= 31) return sign | 0x7c00;
  if (exponent > 0) return sign | static_cast<uint32_t>(exponent) << 10 | fraction;
  return sign | static_cast<uint32_t>(std::lrint(std::ldexp(std::fabs(value), 24)));  // subnormal: multiples of 2^-24
}

float real_of(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  float value = 0;
  if (text == "INF") {
    value = INFINITY;
  } else if (text.find("NAN") != std::string_view::npos) {
    value = NAN;
  } else {
    value = std::strtof(std::string(text).c_str(), nullptr);
  }
  return negative ? -value : value;
}

// Reads an immediate: integers in hexadecimal or decimal, floating-point numbers in decimal, such as "-0x3", "1" or
// "5.9604e-08".
uint32_t immediate_of(std::string_view text, std::string_view base) {
  const bool negative = text.starts_with('-');
  std::string_view digits = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool hexadecimal = digits.starts_with("0x");
  if (!hexadecimal && base.starts_with('H')) return half_bits(real_of(text));
  if (!hexadecimal && (base.starts_with('F') || base == "MUFU" || digits.find_first_of(".NI") != std::string_view::npos)) {
    return std::bit_cast<uint32_t>(real_of(text));
  }
  if (hexadecimal) digits.remove_prefix(2);
  uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  return static_cast<uint32_t>(negative ? 0 - value : value);
}

// Adds a term of an address, such as "R2.64", "UR4", "-0x10" or "R2.X4".
void add_term(std::string_view term, Source& source) {
  const bool negative = term.starts_with('-');
  if (negative || term.starts_with('+')) term.remove_prefix(1);
  const bool uniform = term.starts_with("UR");
  if (!uniform && !term.starts_with('R')) {
    uint64_t value = 0;
    const bool hexadecimal = term.starts_with("0x");
    if (hexadecimal) term.remove_prefix(2);
    std::from_chars(term.data(), term.data() + term.size(), value, hexadecimal ? 16 : 10);
    source.immediate += static_cast<uint32_t>(negative ? 0 - value : value);
    return;
  }
  std::string_view digits = term.substr(uniform ? 2 : 1);
  int number = isa::kZeroRegister;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  (uniform ? source.uniform : source.index) = static_cast<uint8_t>(number);
  if (uniform) return;
  if (term.find(".64") != std::string_view::npos) source.wide = true;
  if (term.find(".U32") != std::string_view::npos) source.unsigned_index = true;
  if (const size_t at = term.find(".X"); at != std::string_view::npos) {
    int scale = 1;
    std::from_chars(term.data() + at + 2, term.data() + term.size(), scale);
    source.scale = static_cast<uint8_t>(scale);
  }
}

// Reads the content of the last brackets, as in "desc[UR4][R2.64+0x10]" and "c[0x0][R4+0x160]".
void read_address(Source& source) {
  const size_t open = source.text.rfind('[');
  const size_t close = source.text.rfind(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  std::string_view inside = source.text.substr(open + 1, close - open - 1);
  while (!inside.empty()) {
    const size_t next = inside.find_first_of("+-", 1);
    add_term(inside.substr(0, next), source);
    if (next == std::string_view::npos) break;
    inside.remove_prefix(inside[next] == '+' ? next + 1 : next);
  }
  if (source.kind != Kind::kConstant) return;
  const size_t bank = source.text.find("[0x");
  if (bank != std::string_view::npos) {
    std::from_chars(source.text.data() + bank + 3, source.text.data() + source.text.size(), source.bank, 16);
  }
}

Source source_of(const isa::Operand& operand, std::string_view base) {
  Source source;
  source.kind = kind_of(operand.kind);
  source.text = operand.text;
  source.index = operand.index;
  if (source.kind == Kind::kImmediate) {
    source.immediate = immediate_of(operand.text, base);
    return source;
  }
  for (const char c : operand.text) {
    if (c == '-') {
      source.negated = true;
    } else if (c == '~' || c == '!') {
      source.inverted = true;
    } else if (c == '|') {
      source.absolute = true;
    } else {
      break;
    }
  }
  if (source.kind == Kind::kMemory || source.kind == Kind::kConstant) {
    source.index = isa::kZeroRegister;
    read_address(source);
  }
  return source;
}

void split_mnemonic(Op& op) {
  std::string_view rest = op.instruction->mnemonic;
  const auto next = [&rest] {
    const size_t dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    return part;
  };
  op.base = next();
  while (!rest.empty()) op.modifiers.push_back(next());
}

// Finds the executor, by the name without U for uniform instructions: "ULOP3" -> "LOP3". UTMALDG and similar opcodes
// keep their U.
void find_executor(Op& op, const isa::OpcodeInfo& info) {
  op.uniform = info.pipe == isa::Pipe::kUniform && op.base.starts_with('U');
  if (op.uniform) op.base.remove_prefix(1);
  op.execute = executor_of(op.base);
}

// Marks extended addresses as register pairs, also if the listing does not state .64: sm_70 and generic accesses,
// LDG.E.SYS R3, [R2] and RED.E.ADD [UR4], R2.
void widen_addresses(Op& op) {
  const bool global = op.behaviour == isa::Behaviour::kLoadGlobal || op.behaviour == isa::Behaviour::kStoreGlobal;
  if (!global || !op.has("E")) return;
  for (Source& source : op.sources) {
    const bool alone = (source.index != isa::kZeroRegister) != (source.uniform != isa::kZeroRegister);
    if (source.kind == Kind::kMemory && alone) source.wide = true;
  }
}

// True if the operands that the executor requires exist: a destination, and an address if it reads one.
bool has_operands(const Op& op) {
  if (op.execute == nullptr) return true;
  const bool stores = op.base == "STL";
  if (stores) return op.sources.size() > 1;
  if (op.base == "LDL" || op.base == "LDC" || op.base == "LDCU") return !op.destinations.empty() && !op.sources.empty();
  constexpr std::array<std::string_view, 14> kWithoutResult{"R2P",        "R2UP",  "SYNCS",          "USETMAXREG", "UCGABAR_WAIT",
                                                            "UTCATOMSWS", "QSPC",  "PSETP",          "STAS",       "REDAS",
                                                            "UREDGR",     "USTGR", "UGETNEXTWORKID", "UMEMSETS"};
  return std::ranges::find(kWithoutResult, op.base) != kWithoutResult.end() || !op.destinations.empty();
}

// BRX R6 -0x150, BRXU UR4 -0x150: the target is R6 - 0x150, relative to the end of the instruction.
void find_indirect_targets(Op& op, const ListedInstruction& listed, const Function& function) {
  if (listed.targets.empty() || listed.instruction.operands.empty()) return;
  const std::string_view text = listed.instruction.operands.front().text;
  Source source;
  source.kind = text.starts_with("UR") ? Kind::kUniform : Kind::kRegister;
  int number = -1;
  const std::string_view digits = text.substr(std::min<size_t>(source.kind == Kind::kUniform ? 2 : 1, text.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (number < 0 || number > isa::kZeroRegister) return;
  source.index = static_cast<uint8_t>(number);
  source.text = text;
  op.sources = {source};
  Source added;
  if (const size_t space = text.find_first_of(" +-", 1); space != std::string_view::npos) {
    std::string_view term = text.substr(space);
    term.remove_prefix(std::min(term.find_first_not_of(' '), term.size()));
    add_term(term, added);
  }
  op.addend = added.immediate + static_cast<uint32_t>(listed.offset) + 16;
  for (const std::string& name : listed.targets) {
    const uint64_t offset = function.labels.find(name)->second;
    const uint64_t position = (offset - function.code.front().offset) / 16;
    if (position < function.code.size()) op.indirect.push_back({static_cast<uint32_t>(offset), static_cast<int>(position)});
  }
}

}  // namespace

bool Op::has(std::string_view modifier) const { return std::ranges::find(modifiers, modifier) != modifiers.end(); }

Expected<std::vector<Op>> decode(const Listing& listing, const Function& function, const isa::Architecture& architecture) {
  std::vector<Op> ops(function.code.size());
  for (size_t i = 0; i < ops.size(); ++i) {
    const ListedInstruction& listed = function.code[i];
    Op& op = ops[i];
    op.instruction = &listed.instruction;
    op.line = listed.line;
    op.index = static_cast<int>(i);
    const isa::OpcodeInfo& info = architecture.info(listed.instruction);
    op.behaviour = info.behaviour;
    split_mnemonic(op);
    if (listed.unreadable) {
      op.unreadable = &*listed.unreadable;
      continue;
    }
    if (listed.assumed_opcode.empty()) find_executor(op, info);
    for (const isa::Operand& operand : listed.instruction.operands) {
      (operand.destination ? op.destinations : op.sources).push_back(source_of(operand, op.base));
    }
    widen_addresses(op);
    if (!has_operands(op))
      return fail_at(listing.file, listed.line, 1, escape::unquoted(op.instruction->mnemonic) + ": operands are missing");
    if (op.base == "BRX" || op.base == "BRXU") find_indirect_targets(op, listed, function);
    const auto label = function.labels.find(listed.label);
    const int64_t offset = label != function.labels.end() ? static_cast<int64_t>(label->second) : listed.target;
    if (op.base == "CALL" && offset < 0) {
      op.callee = "a function whose address is in a register";
      if (!listed.label.empty()) op.callee = listed.label;
    }
    if (offset < 0 || op.base == "RET") continue;
    const int64_t first = static_cast<int64_t>(function.code.front().offset);
    if (op.behaviour == isa::Behaviour::kBranch && (offset - first) % kInstructionBytes != 0) {
      return fail_at(listing.file, listed.line, 1,
                     escape::unquoted(op.instruction->mnemonic) + ": no instruction begins at its target; instructions of " +
                         escape::unquoted(function.name) + " begin every " + std::to_string(kInstructionBytes) + " bytes");
    }
    const int64_t position = (offset - first) / kInstructionBytes;
    if (op.behaviour == isa::Behaviour::kBranch && (position < 0 || position >= static_cast<int64_t>(ops.size()))) {
      return fail_at(listing.file, listed.line, 1,
                     escape::unquoted(op.instruction->mnemonic) + " leaves function " + escape::unquoted(function.name));
    }
    op.target = static_cast<int>(position);
  }
  return ops;
}

}  // namespace warpfold::sass
