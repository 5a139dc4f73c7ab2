#include "traces/import/annotations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace warpfold::sass {
namespace {

constexpr uint8_t kLongestStall = 15;

std::optional<uint8_t> number_of(std::string_view text, uint8_t most) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  uint8_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

// Returns the mask of a list such as "{1,0}".
std::optional<uint8_t> mask_of(std::string_view text) {
  if (!text.starts_with('{') || !text.ends_with('}')) return std::nullopt;
  text = text.substr(1, text.size() - 2);
  uint8_t mask = 0;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    const auto counter = number_of(text.substr(0, comma), isa::kDependenceCounters - 1);
    if (!counter) return std::nullopt;
    mask = static_cast<uint8_t>(mask | 1U << *counter);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return mask;
}

// Returns false for an annotation of another kind, which has no scheduling information.
bool read_annotation(std::string_view word, isa::ControlCode& control) {
  constexpr std::string_view kWait = "?WAIT";
  constexpr std::string_view kWaitEnd = "_END_GROUP";
  constexpr std::string_view kPlain = "?trans";
  const auto counter = [&word](std::string_view key) { return number_of(word.substr(key.size()), isa::kDependenceCounters - 1); };
  if (word.starts_with("&wr=")) {
    control.write_counter = counter("&wr=").value_or(isa::kNoCounter);
  } else if (word.starts_with("&rd=")) {
    control.read_counter = counter("&rd=").value_or(isa::kNoCounter);
  } else if (word.starts_with("&req=")) {
    control.wait_mask = mask_of(word.substr(5)).value_or(0);
  } else if (word.starts_with(kPlain)) {
    control.stall = number_of(word.substr(kPlain.size()), kLongestStall).value_or(1);
    control.yield = false;
  } else if (word.starts_with(kWait) && word.ends_with(kWaitEnd)) {
    control.stall = number_of(word.substr(kWait.size(), word.size() - kWait.size() - kWaitEnd.size()), kLongestStall).value_or(1);
    control.yield = true;
  } else {
    return false;
  }
  return true;
}

// Returns the start of the first annotation: & or ? after a space, before a letter.
size_t first_annotation(std::string_view line) {
  for (size_t i = 1; i + 1 < line.size(); ++i) {
    const bool begins = (line[i] == '&' || line[i] == '?') && (line[i - 1] == ' ' || line[i - 1] == '\t');
    if (begins && std::isalpha(static_cast<unsigned char>(line[i + 1])) != 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

std::optional<isa::ControlCode> take_annotations(std::string_view& line) {
  const size_t begin = first_annotation(line);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view rest = line.substr(begin, line.size() - begin - (line.ends_with(';') ? 1 : 0));
  line = line.substr(0, begin);
  isa::ControlCode control;
  bool found = false;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find_first_of(" \t"), rest.size());
    found |= read_annotation(rest.substr(0, end), control);
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t", end), rest.size()));
  }
  return found ? std::optional(control) : std::nullopt;
}

}  // namespace warpfold::sass
