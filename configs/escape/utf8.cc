#include "configs/escape/utf8.h"

namespace warpfold::escape {

namespace {

unsigned char byte(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

bool between(char32_t code, char32_t first, char32_t last) { return first <= code && code <= last; }

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

char32_t code_point(std::string_view character) {
  if (character.size() == 1) return byte(character, 0);
  char32_t code = byte(character, 0) & (0xffU >> (character.size() + 1));
  for (size_t i = 1; i < character.size(); ++i) code = code << 6U | (byte(character, i) & 0x3fU);
  return code;
}

bool is_unseen(char32_t code) {
  return code < 0x20 || between(code, 0x7f, 0x9f) || code == 0x61c || between(code, 0x200e, 0x200f) ||
         between(code, 0x2028, 0x202e) || between(code, 0x2066, 0x2069) || code == 0xfeff || between(code, 0xe0000, 0xe007f);
}

}  // namespace warpfold::escape
