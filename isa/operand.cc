#include "isa/operand.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "configs/escape/quoted.h"
#include "isa/architecture.h"

namespace warpfold::isa {

namespace {

// Register name at the start of a text. `number` is -1 if it is out of range.
struct RegisterName {
  OperandKind file;
  int number;
  size_t length;
};

bool identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

int largest(OperandKind file) {
  switch (file) {
    case OperandKind::kRegister:
    case OperandKind::kUniformRegister:  // to UR62 before sm_100
      return 254;
    default:
      return 6;
  }
}

std::optional<RegisterName> match_register(std::string_view text) {
  const bool uniform = text.starts_with('U');
  std::string_view rest = text.substr(uniform ? 1 : 0);
  if (!rest.starts_with('R') && !rest.starts_with('P')) return std::nullopt;
  const bool predicate = rest.front() == 'P';
  rest.remove_prefix(1);
  const OperandKind file = predicate ? (uniform ? OperandKind::kUniformPredicate : OperandKind::kPredicate)
                                     : (uniform ? OperandKind::kUniformRegister : OperandKind::kRegister);
  size_t length = 0;
  int number = predicate ? kTruePredicate : kZeroRegister;
  if (rest.starts_with(predicate ? 'T' : 'Z')) {
    length = 1;
  } else {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (error != std::errc{} || rest.front() == '-') return std::nullopt;
    length = static_cast<size_t>(end - rest.data());
    if (number > largest(file)) number = -1;
  }
  if (length < rest.size() && identifier_character(rest[length])) return std::nullopt;
  return RegisterName{file, number, text.size() - rest.size() + length};
}

Expected<uint8_t> checked_number(const RegisterName& name, std::string_view text) {
  if (name.number >= 0) return static_cast<uint8_t>(name.number);
  return fail("no such register: " + std::string(text.substr(0, name.length)) + " (the last one is number " +
              std::to_string(largest(name.file)) + ")");
}

// Calls `visit(name, rest)` for each register inside brackets, from left to right. `rest` starts at the name.
template <typename Visit>
void for_registers_inside(std::string_view text, Visit visit) {
  for (size_t at = 0; at < text.size(); ++at) {
    if (at > 0 && identifier_character(text[at - 1])) continue;
    if (const auto name = match_register(text.substr(at))) visit(*name, text.substr(at));
  }
}

Expected<Operand> parse_address(Operand operand, std::string_view text) {
  std::optional<Diagnostic> wrong;
  for_registers_inside(text, [&](const RegisterName& name, std::string_view rest) {
    const auto number = checked_number(name, rest);
    if (!number) {
      wrong = number.error();
    } else if (name.file == OperandKind::kRegister && operand.index == kZeroRegister && *number != kZeroRegister) {
      operand.index = *number;
      operand.width = rest.substr(name.length).starts_with(".64") ? 2 : 1;
    } else if (name.file == OperandKind::kUniformRegister && operand.uniform_index == kZeroRegister) {
      operand.uniform_index = *number;
    }
  });
  if (wrong) return std::unexpected(*wrong);
  return operand;
}

bool is_number(std::string_view text) {
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  if (text == "INF" || text == "QNAN" || text == "SNAN" || text == "NAN") return true;
  if (text.empty() || (std::isdigit(static_cast<unsigned char>(text.front())) == 0 && text.front() != '.')) return false;
  const std::string copy(text);
  char* end = nullptr;
  std::strtod(copy.c_str(), &end);  // also accepts hexadecimal integers
  return *end == '\0';
}

// Returns the registers of an operand whose width follows from the access width (.64, .128, .M88.4).
uint8_t access_registers(const Instruction& instruction) {
  return static_cast<uint8_t>(1 << access_width_index(instruction.mnemonic));
}

// Returns the accumulator registers of wgmma: 64 x N results over 128 threads. FP32 and INT32 take N / 2 registers;
// FP16 packs two results into a register.
uint8_t accumulator_registers(std::string_view mnemonic) {
  const size_t at = mnemonic.find(".64x");
  int columns = 0;
  if (at != std::string_view::npos) std::from_chars(mnemonic.data() + at + 4, mnemonic.data() + mnemonic.size(), columns);
  const bool half = mnemonic.find(".F16", at == std::string_view::npos ? 0 : at) != std::string_view::npos;
  return static_cast<uint8_t>(std::min(columns / (half ? 4 : 2), 128));
}

uint8_t listed(const std::vector<uint8_t>& values, size_t position) {
  return values.empty() ? 1 : values[std::min(position, values.size() - 1)];
}

bool is_register(const Operand& operand) {
  return operand.kind == OperandKind::kRegister || operand.kind == OperandKind::kUniformRegister;
}

bool is_predicate(const Operand& operand) {
  return operand.kind == OperandKind::kPredicate || operand.kind == OperandKind::kUniformPredicate;
}

// Returns the number of leading operands that are written. The table gives the usual number. A predicate may be written
// before the register (LOP3.LUT P0, RZ, ... and SHFL PT, R4, ...), and carries may be written after it (IADD3 R4, P0,
// ...).
size_t count_destinations(const OpcodeInfo& info, const std::vector<Operand>& operands) {
  size_t count = 0;
  while (count < info.destinations && count < operands.size() &&
         (is_register(operands[count]) || is_predicate(operands[count]) || operands[count].text == "PR")) {
    ++count;
  }
  if (count != 1 || operands.size() < 2) return count;
  if (is_predicate(operands[0])) return is_register(operands[1]) ? 2 : 1;
  for (size_t carry = 0; carry < info.predicate_destinations && count < operands.size(); ++carry) {
    if (!is_predicate(operands[count]) || operands[count].text.starts_with('!')) break;
    ++count;
  }
  return count;
}

uint8_t register_width(const OpcodeInfo& info, const Instruction& instruction, const Operand& operand, size_t position) {
  if (info.behaviour == Behaviour::kWgmma) {
    const bool accumulator = operand.destination || position > 0;  // source 0 is A, in registers or behind a descriptor
    return accumulator ? accumulator_registers(instruction.mnemonic) : listed(info.source_registers, position);
  }
  if (operand.text.find(".64") != std::string::npos) return 2;
  const std::vector<uint8_t>& list = operand.destination ? info.destination_registers : info.source_registers;
  const bool by_access = info.memory() || (operand.kind == OperandKind::kUniformRegister && operand.destination);
  return by_access && list.empty() ? access_registers(instruction) : listed(list, position);
}

}  // namespace

Expected<Operand> parse_operand(std::string_view text) {
  // Brackets must balance, because commas inside brackets do not end an operand.
  if (std::ranges::count(text, '[') != std::ranges::count(text, ']') ||
      std::ranges::count(text, '(') != std::ranges::count(text, ')'))
    return fail("unbalanced brackets in " + escape::quoted(text));
  Operand operand;
  operand.text = text;
  operand.reuse = text.find(".reuse") != std::string_view::npos;
  std::string_view core = text;
  while (!core.empty() && (core.front() == '-' || core.front() == '|' || core.front() == '~' || core.front() == '!'))
    core.remove_prefix(1);
  if (core.empty()) return fail("empty operand");
  if (core.starts_with("c[") || core.starts_with("cx[")) {
    operand.kind = OperandKind::kConstant;
    return parse_address(operand, core);
  }
  if (core.starts_with('[') || core.starts_with("desc[") || core.starts_with("gdesc[") || core.starts_with("tmem[") ||
      core.starts_with("idesc[")) {
    operand.kind = OperandKind::kMemory;
    return parse_address(operand, core);
  }
  if (const auto name = match_register(core)) {
    const auto number = checked_number(*name, core);
    if (!number) return std::unexpected(number.error());
    operand.kind = name->file;
    operand.index = *number;
    return operand;
  }
  if (is_number(core)) {
    operand.kind = OperandKind::kImmediate;
    return operand;
  }
  if (core == "1D" || core == "2D" || core == "3D") return operand;              // dimension of a texture
  if (core.starts_with("32@lo(") || core.starts_with("32@hi(")) return operand;  // half of an address that the linker fills in
  if (core.front() != '`' && std::isalpha(static_cast<unsigned char>(core.front())) == 0 && core.front() != '.') {
    return fail(escape::quoted(text) + " is no operand");
  }
  return operand;
}

Expected<void> assign_operand_roles(const OpcodeInfo& info, Instruction& instruction) {
  const size_t destinations = count_destinations(info, instruction.operands);
  size_t registers_written = 0;
  for (size_t i = 0; i < instruction.operands.size(); ++i) {
    Operand& operand = instruction.operands[i];
    operand.destination = i < destinations;
    const size_t position = operand.destination ? registers_written : i - destinations;
    if (!operand.destination && !info.memory()) {
      operand.slot =
          info.source_slots.empty() ? static_cast<uint8_t>(std::min<size_t>(position, 2)) : listed(info.source_slots, position);
    }
    if (!is_register(operand)) continue;
    if (operand.destination) ++registers_written;
    if (operand.index == kZeroRegister) continue;
    operand.width = register_width(info, instruction, operand, position);
    if (operand.index + operand.width - 1 > largest(operand.kind)) {
      return fail(operand.text + " covers " + std::to_string(operand.width) + " registers in " + instruction.mnemonic +
                  ", which runs past number " + std::to_string(largest(operand.kind)));
    }
  }
  return {};
}

void set_reuse(Operand& operand, bool reuse) {
  if (operand.reuse == reuse) return;
  operand.reuse = reuse;
  const std::string_view mark = ".reuse";
  if (!reuse) {
    operand.text.erase(operand.text.find(mark), mark.size());
    return;
  }
  const size_t name = operand.text.find('R');
  const auto end = std::find_if_not(operand.text.begin() + name + 1, operand.text.end(), identifier_character);
  operand.text.insert(end, mark.begin(), mark.end());
}

std::vector<RegisterRange> registers_of(const Operand& operand) {
  std::vector<RegisterRange> ranges;
  switch (operand.kind) {
    case OperandKind::kRegister:
    case OperandKind::kUniformRegister:
      if (operand.index != kZeroRegister) ranges.push_back({operand.kind, operand.index, operand.width});
      break;
    case OperandKind::kPredicate:
    case OperandKind::kUniformPredicate:
      if (operand.index != kTruePredicate) ranges.push_back({operand.kind, operand.index, 1});
      break;
    case OperandKind::kMemory:
    case OperandKind::kConstant: {
      // Descriptors are wider than one register. desc[] takes two uniform registers. gdesc[] (wgmma) takes four, a pair
      // for each matrix.
      const uint8_t descriptor = operand.text.starts_with("gdesc[") ? 4 : operand.text.starts_with("desc[") ? 2 : 1;
      for_registers_inside(operand.text, [&](const RegisterName& name, std::string_view rest) {
        const bool in_descriptor = operand.text.size() - rest.size() == operand.text.find('[') + 1 && descriptor > 1;
        const uint8_t width = in_descriptor ? descriptor : rest.substr(name.length).starts_with(".64") ? 2 : 1;
        if (name.number != kZeroRegister) ranges.push_back({name.file, static_cast<uint8_t>(name.number), width});
      });
      break;
    }
    case OperandKind::kOther:
      if (operand.text == "PR") ranges.push_back({OperandKind::kPredicate, 0, kTruePredicate});  // all predicates as one word
      break;
    case OperandKind::kImmediate:
      break;
  }
  return ranges;
}

}  // namespace warpfold::isa
