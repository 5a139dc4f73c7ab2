#include "configs/printable.h"

#include <algorithm>

namespace warpfold {

namespace {

unsigned char byte(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// Those of ASCII and of Latin-1 (0x80 to 0x9f).
bool is_control(std::string_view character) {
  const unsigned char lead = byte(character, 0);
  return lead < 0x20 || lead == 0x7f || (lead == 0xc2 && byte(character, 1) < 0xa0);
}

size_t printable_length(std::string_view text) {
  const size_t length = utf8_length(text);
  return length == 0 || is_control(text) ? 0 : length;
}

}  // namespace

size_t utf8_length(std::string_view text) {
  const unsigned char lead = byte(text, 0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(text, i) & 0xc0) != 0x80) return 0;
  }
  // Longer than need be, surrogates, beyond U+10FFFF.
  const unsigned char second = byte(text, 1);
  const bool refused = (lead == 0xe0 && second < 0xa0) || (lead == 0xed && second >= 0xa0) || (lead == 0xf0 && second < 0x90) ||
                       (lead == 0xf4 && second >= 0x90);
  return refused ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string why_unprintable(std::string_view text) {
  if (!is_utf8(text)) return "bytes that are no UTF-8";
  for (; !text.empty(); text.remove_prefix(utf8_length(text))) {
    if (is_control(text)) return "a line break or another control character";
  }
  return {};
}

std::string printable(std::string_view text, size_t most) {
  std::string shown;
  while (!text.empty()) {
    const size_t length = printable_length(text);
    const std::string_view next = length == 0 ? "?" : text.substr(0, length);
    if (shown.size() + next.size() > most) return shown.append("...");
    shown.append(next);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return shown;
}

}  // namespace warpfold
