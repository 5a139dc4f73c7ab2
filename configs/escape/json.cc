#include "configs/escape/json.h"

#include <algorithm>

#include "configs/escape/utf8.h"

namespace warpfold::escape {

namespace {

std::string unit(char32_t code) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string escape = "\\u";
  for (unsigned shift = 16; shift > 0;) escape += kDigits[code >> (shift -= 4) & 0xfU];
  return escape;
}

// Beyond U+FFFF as two units of UTF-16.
std::string escaped(char32_t code) {
  if (code == '\n') return "\\n";
  if (code < 0x10000) return unit(code);
  return unit(0xd800 + ((code - 0x10000) >> 10U)) + unit(0xdc00 + ((code - 0x10000) & 0x3ffU));
}

}  // namespace

std::string json(std::string_view text) {
  std::string quoted(1, '"');
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (length == 0) {
      quoted += escaped(0xfffd);
    } else if (character == "\"" || character == "\\") {
      quoted.append(1, '\\').append(character);
    } else if (is_unseen(code_point(character))) {
      quoted += escaped(code_point(character));
    } else {
      quoted += character;
    }
    text.remove_prefix(character.size());
  }
  return quoted.append(1, '"');
}

}  // namespace warpfold::escape
