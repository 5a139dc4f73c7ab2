#include "configs/escape/visible.h"

#include <algorithm>

#include "configs/escape/utf8.h"

namespace warpfold::escape {

namespace {

std::string hexadecimal(char32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (; code != 0 || digits.size() < 2; code >>= 4U) digits.insert(digits.begin(), kDigits[code & 0xfU]);
  return digits;
}

std::string named(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  if (code == '\r') return "\\r";
  return code < 0x80 ? "\\x" + hexadecimal(code) : "\\u{" + hexadecimal(code) + "}";
}

// Removes the character at the front of `text`, and returns its visible form.
std::string take(std::string_view& text) {
  const size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
  text.remove_prefix(character.size());
  if (length == 0) return "\\x" + hexadecimal(static_cast<unsigned char>(character.front()));
  const char32_t code = code_point(character);
  return is_unseen(code) ? named(code) : std::string(character);
}

// Escapes are ASCII.
size_t characters(std::string_view taken) { return utf8_length(taken) == taken.size() ? 1 : taken.size(); }

}  // namespace

std::string visible(std::string_view text) {
  std::string shown;
  while (!text.empty()) shown += take(text);
  return shown;
}

std::string visible(std::string_view text, size_t most) {
  constexpr std::string_view kDots = "...";
  std::string shown;
  size_t width = 0;
  size_t cut = 0;  // bytes that leave room for the dots
  while (!text.empty()) {
    const std::string next = take(text);
    width += characters(next);
    if (width > most) return shown.substr(0, cut).append(kDots);
    shown += next;
    if (width + kDots.size() <= most) cut = shown.size();
  }
  return shown;
}

std::string why_unprintable(std::string_view text) {
  if (!is_utf8(text)) return "bytes that are no UTF-8";
  for (size_t length = 0; !text.empty(); text.remove_prefix(length)) {
    length = utf8_length(text);
    const char32_t code = code_point(text.substr(0, length));
    if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return "a line break or another control character";
    if (is_unseen(code)) return "the unseen character " + named(code);
  }
  return {};
}

}  // namespace warpfold::escape
