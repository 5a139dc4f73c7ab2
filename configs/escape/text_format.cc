#include "configs/escape/text_format.h"

#include <algorithm>

#include "configs/escape/utf8.h"
#include "configs/escape/visible.h"

namespace warpfold::escape {

std::string text_format(std::string_view text) {
  constexpr std::string_view kDigits = "01234567";
  std::string quoted(1, '"');
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<size_t>(length, 1));
    if (character == "\"" || character == "\\") {
      quoted.append(1, '\\').append(character);
    } else if (length == 0 || is_unseen(code_point(character))) {
      // Octal, of three digits: a hexadecimal escape would take a letter behind it for its own.
      for (const char letter : character) {
        const auto byte = static_cast<unsigned char>(letter);
        quoted.append(1, '\\').append(1, kDigits[byte >> 6U]).append(1, kDigits[byte >> 3U & 7U]).append(1, kDigits[byte & 7U]);
      }
    } else {
      quoted += character;
    }
    text.remove_prefix(character.size());
  }
  return quoted.append(1, '"');
}

std::string comment(std::string_view text) { return visible(text); }

}  // namespace warpfold::escape
