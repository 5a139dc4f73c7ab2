#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns text for the quotes of JSON (RFC 8259), which is UTF-8. The quote, the backslash and unseen characters
// (utf8.h) become escapes, so JSON on a terminal is as harmless as a table and keeps its meaning. Bytes that are no
// UTF-8, as in a file's name on the command line, become the replacement character U+FFFD.
std::string json(std::string_view text);

}  // namespace warpfold::escape
