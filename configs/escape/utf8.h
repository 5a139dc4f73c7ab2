#pragma once

#include <cstddef>
#include <string_view>

namespace warpfold::escape {

// Bytes of the UTF-8 character at the front of `text`, which is not empty; 0: it is none.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// The code point of the one UTF-8 character that `character` is.
char32_t code_point(std::string_view character);

// Whether a code point changes what stands around it instead of being seen: the control characters of ASCII (0x00 to 0x1f, 0x7f)
// and of Latin-1 (0x80 to 0x9f, some of which open escape sequences of terminals), the line and paragraph separators (U+2028,
// U+2029), the marks that set or override the direction of text (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069:
// Unicode Standard Annex #9), by which a line can show other words than it holds, the byte order mark (U+FEFF), and the tags
// (U+E0000 to U+E007F), which no font shows.
bool is_unseen(char32_t code);

}  // namespace warpfold::escape
