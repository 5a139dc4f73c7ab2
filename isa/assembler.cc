#include "isa/assembler.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <type_traits>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "isa/architecture.h"
#include "isa/operand.h"

namespace warpfold::isa {

namespace {

// A key of the effect braces.
struct EffectField {
  std::string_view name;
  std::vector<std::string> EffectNames::*names;  // names that the value indexes; null: a plain number
  bool flag;                                     // written as the bare key
  int64_t least;
  int64_t most;
  int64_t (*get)(const Effect&);
  void (*set)(Effect&, int64_t);
};

template <auto Member>
constexpr EffectField effect_field(std::string_view name, std::vector<std::string> EffectNames::*names = nullptr) {
  using Value = std::remove_cvref_t<decltype(std::declval<Effect>().*Member)>;
  return {name,
          names,
          std::is_same_v<Value, bool>,
          std::numeric_limits<Value>::min(),
          std::numeric_limits<Value>::max(),
          [](const Effect& effect) { return static_cast<int64_t>(effect.*Member); },
          [](Effect& effect, int64_t value) { effect.*Member = static_cast<Value>(value); }};
}

constexpr std::array kEffectFields{
    effect_field<&Effect::bytes>("bytes"),
    effect_field<&Effect::wavefronts>("wavefronts"),
    effect_field<&Effect::stream>("stream", &EffectNames::streams),
    effect_field<&Effect::barrier>("barrier", &EffectNames::rings),
    effect_field<&Effect::cursor>("cursor", &EffectNames::cursors),
    effect_field<&Effect::advance>("advance"),
    effect_field<&Effect::tx_bytes>("tx_bytes"),
    effect_field<&Effect::count>("count"),
    effect_field<&Effect::multicast>("multicast"),
    effect_field<&Effect::commit>("commit"),
    effect_field<&Effect::l1_hit>("l1_hit"),
    effect_field<&Effect::l2_passes>("l2_passes"),
    effect_field<&Effect::l2_sectors>("l2_sectors"),
    effect_field<&Effect::rows>("rows"),
    effect_field<&Effect::columns>("columns"),
};

// A line with a read position. Creates diagnostics that point at the current token.
class Cursor {
 public:
  Cursor(std::string_view text, const std::string& file, int line) : text_(text), file_(file), line_(line) {}

  std::string_view rest() const { return text_.substr(at_); }
  bool done() {
    skip_space();
    return at_ == text_.size();
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (!rest().starts_with(c)) return false;
    ++at_;
    return true;
  }
  // Returns the text up to the first of `stops`, without trailing space.
  std::string_view until(std::string_view stops) {
    skip_space();
    const size_t end = std::min(text_.find_first_of(stops, at_), text_.size());
    std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    return token.substr(0, token.find_last_not_of(" \t\r") + 1);
  }
  // Returns one operand: the text up to a comma, semicolon or brace outside brackets.
  std::string_view operand() {
    skip_space();
    int depth = 0;
    size_t end = at_;
    for (; end < text_.size(); ++end) {
      const char c = text_[end];
      if (c == '[' || c == '(') ++depth;
      if (c == ']' || c == ')') --depth;
      if (depth <= 0 && (c == ',' || c == ';' || c == '{')) break;
    }
    std::string_view token = text_.substr(at_, end - at_);
    at_ = end;
    return token.substr(0, token.find_last_not_of(" \t\r") + 1);
  }
  size_t position() const { return at_; }
  std::unexpected<Diagnostic> fail_at_position(size_t position, std::string message) const {
    return fail_at(file_, line_, static_cast<int>(position) + 1, std::move(message));
  }

 private:
  std::string_view text_;
  const std::string& file_;
  int line_;
  size_t at_ = 0;
};

constexpr std::string_view kControlForm = "[B------:R-:W-:-:S01]";

bool counter_character(char c, uint8_t& counter) {
  if (c == '-')
    counter = kNoCounter;
  else if (c >= '0' && c < '0' + kDependenceCounters)
    counter = static_cast<uint8_t>(c - '0');
  else
    return false;
  return true;
}

Expected<ControlCode> parse_control(Cursor& cursor) {
  const size_t start = cursor.position();
  const std::string_view text = cursor.rest().substr(0, kControlForm.size());
  const auto wrong = [&](size_t offset) {
    return cursor.fail_at_position(start + offset, "bad control code, expected the form " + std::string(kControlForm) +
                                                       ": wait mask, read counter, write counter (0-5 or -), yield, stall 00-15");
  };
  for (size_t i = 0; i < kControlForm.size(); ++i) {
    const bool fixed = kControlForm[i] != '-' && !(kControlForm[i] >= '0' && kControlForm[i] <= '9');
    if (i >= text.size() || (fixed && text[i] != kControlForm[i])) return wrong(std::min(i, text.size()));
  }
  ControlCode control;
  for (int c = 0; c < kDependenceCounters; ++c) {
    const char mark = text[2 + c];
    if (mark == '0' + c)
      control.wait_mask = static_cast<uint8_t>(control.wait_mask | (1U << c));
    else if (mark != '-')
      return wrong(2 + c);
  }
  if (!counter_character(text[10], control.read_counter)) return wrong(10);
  if (!counter_character(text[13], control.write_counter)) return wrong(13);
  if (text[15] != 'Y' && text[15] != '-') return wrong(15);
  control.yield = text[15] == 'Y';
  const int stall = (text[18] - '0') * 10 + (text[19] - '0');
  if (text[18] < '0' || text[18] > '1' || text[19] < '0' || text[19] > '9' || stall > 15) return wrong(18);
  control.stall = static_cast<uint8_t>(stall);
  cursor.until("]");
  cursor.take(']');
  return control;
}

Expected<Guard> parse_guard(Cursor& cursor) {
  const size_t start = cursor.position();
  Guard guard;
  guard.present = true;
  guard.negated = cursor.take('!');
  const std::string_view name = cursor.until(" \t;{");
  const auto operand = parse_operand(name);
  if (!operand || (operand->kind != OperandKind::kPredicate && operand->kind != OperandKind::kUniformPredicate)) {
    return cursor.fail_at_position(start, escape::quoted(name) + " is no predicate to guard an instruction with");
  }
  guard.uniform = operand->kind == OperandKind::kUniformPredicate;
  guard.predicate = operand->index;
  return guard;
}

Expected<void> parse_operands(Cursor& cursor, Instruction& instruction) {
  while (!cursor.done() && cursor.rest().front() != ';' && cursor.rest().front() != '{') {
    const size_t start = cursor.position();
    auto operand = parse_operand(cursor.operand());
    if (!operand) return cursor.fail_at_position(start, operand.error().message);
    instruction.operands.push_back(*std::move(operand));
    if (!cursor.take(',')) break;
    if (cursor.done() || cursor.rest().front() == ';')
      return cursor.fail_at_position(cursor.position(), "expected an operand after the comma");
  }
  return {};
}

bool starts_a_name(std::string_view text) {
  const char first = text.empty() ? '0' : text.front();
  return first == '_' || (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z');
}

Expected<void> parse_effect_entry(Cursor& cursor, Effect& effect, const EffectNames& names) {
  const size_t start = cursor.position();
  const std::string_view name = cursor.until(" \t=}");
  const auto at = std::ranges::find(kEffectFields, name, &EffectField::name);
  if (at == kEffectFields.end()) {
    std::vector<std::string> known;
    for (const EffectField& field : kEffectFields) known.emplace_back(field.name);
    return cursor.fail_at_position(start, "unknown effect " + escape::quoted(name) + suggestion(name, known));
  }
  if (at->flag) {
    at->set(effect, 1);
    return {};
  }
  if (!cursor.take('=')) return cursor.fail_at_position(cursor.position(), "expected =NUMBER after " + escape::quoted(name));
  const size_t value_start = cursor.position();
  const std::string_view text = cursor.until(" \t}");
  if (at->names != nullptr && starts_a_name(text)) {
    const std::vector<std::string>& known = names.*(at->names);
    const auto named = std::ranges::find(known, text);
    if (named == known.end()) {
      return cursor.fail_at_position(value_start,
                                     "unknown " + std::string(name) + " " + escape::quoted(text) + suggestion(text, known));
    }
    at->set(effect, named - known.begin());
    return {};
  }
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < at->least || value > at->most) {
    return cursor.fail_at_position(value_start, "bad value " + escape::quoted(text) + " of effect " + std::string(name) +
                                                    ", expected " + std::to_string(at->least) + " to " + std::to_string(at->most));
  }
  at->set(effect, value);
  return {};
}

Expected<void> parse_effect(Cursor& cursor, Effect& effect, const EffectNames& names) {
  while (!cursor.take('}')) {
    if (cursor.done()) return cursor.fail_at_position(cursor.position(), "expected } at the end of the effect");
    if (auto entry = parse_effect_entry(cursor, effect, names); !entry) return entry;
  }
  return {};
}

std::string value_text(const EffectField& field, int64_t value, const EffectNames& names) {
  if (field.names == nullptr || value < 0) return std::to_string(value);
  const std::vector<std::string>& known = names.*(field.names);
  return static_cast<size_t>(value) < known.size() ? known[static_cast<size_t>(value)] : std::to_string(value);
}

std::string format_effect(const Effect& effect, const EffectNames& names) {
  std::string text;
  for (const EffectField& field : kEffectFields) {
    if (field.get(effect) == field.get(Effect{})) continue;
    text += text.empty() ? " {" : " ";
    text += field.name;
    if (!field.flag) text.append("=").append(value_text(field, field.get(effect), names));
  }
  return text.empty() ? text : text + "}";
}

}  // namespace

bool names_barriers_by_number(Behaviour behaviour) {
  return behaviour == Behaviour::kBarrierSync || behaviour == Behaviour::kBarrierArrive || behaviour == Behaviour::kLoadGlobal ||
         behaviour == Behaviour::kStoreGlobal;
}

std::string format_control(const ControlCode& control) {
  std::string text(kControlForm);
  const auto counter = [](uint8_t value) { return value == kNoCounter ? '-' : static_cast<char>('0' + value); };
  for (int c = 0; c < kDependenceCounters; ++c) {
    if ((control.wait_mask >> c & 1) != 0) text[2 + c] = static_cast<char>('0' + c);
  }
  text[10] = counter(control.read_counter);
  text[13] = counter(control.write_counter);
  text[15] = control.yield ? 'Y' : '-';
  text[18] = static_cast<char>('0' + control.stall / 10);
  text[19] = static_cast<char>('0' + control.stall % 10);
  return text;
}

std::string format_instruction(const Instruction& instruction, const EffectNames& names) {
  std::string text = format_control(instruction.control) + " ";
  const Guard& guard = instruction.guard;
  if (guard.present) {
    const std::string number = guard.predicate == kTruePredicate ? "T" : std::to_string(guard.predicate);
    text += std::string("@") + (guard.negated ? "!" : "") + (guard.uniform ? "UP" : "P") + number + " ";
  }
  text += instruction.mnemonic;
  std::string_view separator = " ";
  for (const Operand& operand : instruction.operands) {
    text += separator;
    text += operand.text;
    separator = ", ";
  }
  return text + " ;" + format_effect(instruction.effect, names);
}

Expected<Instruction> parse_instruction(const Architecture& architecture, std::string_view text, const std::string& file, int line,
                                        const EffectNames& names) {
  Cursor cursor(text, file, line);
  Instruction instruction;
  cursor.skip_space();
  if (cursor.rest().starts_with('[')) {
    auto control = parse_control(cursor);
    if (!control) return std::unexpected(control.error());
    instruction.control = *control;
  }
  if (cursor.take('@')) {
    auto guard = parse_guard(cursor);
    if (!guard) return std::unexpected(guard.error());
    instruction.guard = *guard;
  }
  cursor.skip_space();
  const size_t start = cursor.position();
  instruction.mnemonic = cursor.until(" \t;{");
  if (instruction.mnemonic.empty()) return cursor.fail_at_position(start, "expected an instruction");
  const auto opcode = architecture.resolve(instruction.mnemonic);
  if (!opcode) return cursor.fail_at_position(start, opcode.error().message);
  instruction.opcode = *opcode;
  if (auto operands = parse_operands(cursor, instruction); !operands) return std::unexpected(operands.error());
  if (auto roles = assign_operand_roles(architecture.info(instruction), instruction); !roles) {
    return cursor.fail_at_position(start, roles.error().message);
  }
  cursor.take(';');
  if (cursor.take('{')) {
    const bool by_number = names_barriers_by_number(architecture.info(instruction).behaviour);
    const EffectNames known = by_number ? EffectNames{names.streams, {}, names.cursors} : names;
    if (auto effect = parse_effect(cursor, instruction.effect, known); !effect) return std::unexpected(effect.error());
  }
  if (!cursor.done())
    return cursor.fail_at_position(cursor.position(), "unexpected text after the instruction: " + escape::quoted(cursor.rest()));
  return instruction;
}

}  // namespace warpfold::isa
