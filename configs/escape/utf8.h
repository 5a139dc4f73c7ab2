#pragma once

#include <cstddef>
#include <string_view>

namespace warpfold::escape {

// Returns the bytes of the UTF-8 character at the front of `text`, which is not empty; 0: it is no UTF-8.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// Returns the code point of `character`, a single UTF-8 character.
char32_t code_point(std::string_view character);

// Returns whether a code point changes the text around it instead of being seen:
// - control characters of ASCII (0x00 to 0x1f, 0x7f) and of Latin-1 (0x80 to 0x9f, some of which open escape sequences
//   of terminals);
// - the line and paragraph separators (U+2028, U+2029);
// - marks that set or override the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069:
//   Unicode Standard Annex #9), with which a line can show other words than it contains;
// - the byte order mark (U+FEFF);
// - tags (U+E0000 to U+E007F), which no font shows.
bool is_unseen(char32_t code);

}  // namespace warpfold::escape
