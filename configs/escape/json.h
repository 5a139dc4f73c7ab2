#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Text in the quotes of JSON (RFC 8259), which is UTF-8: the quote, the backslash and what is unseen (utf8.h) as escapes, so
// that a JSON on a terminal is as harmless as a table and means the same as before; bytes that are no UTF-8, which a file's name
// on the command line may have, as the replacement character U+FFFD.
std::string json(std::string_view text);

}  // namespace warpfold::escape
