#pragma once

#include <string>
#include <string_view>

namespace warpfold {

// Bytes of the UTF-8 character at the front of `text`, which is not empty; 0: it is none.
size_t utf8_length(std::string_view text);

bool is_utf8(std::string_view text);

// What keeps `text` from standing in a line of a report, empty where nothing does: bytes that are no UTF-8, control characters.
std::string why_unprintable(std::string_view text);

// `text` with a question mark for each byte that is unprintable; what is longer than `most` bytes ends in three dots.
std::string printable(std::string_view text, size_t most = std::string_view::npos);

}  // namespace warpfold
