#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns `text` as one line of valid UTF-8 in which every character is seen. Line breaks, tabs and carriage returns
// become \n, \t and \r. Other control characters of ASCII, and bytes that are no UTF-8, become \x1b. Other unseen
// characters (utf8.h) become \u{202e}. All other characters stay, the backslash too, so ordinary names do not change.
// For every text of the input in prose: cells of tables, lines of reports, names of tracks.
std::string visible(std::string_view text);

// The same, cut to at most `most` characters. A cut text ends in three dots, which count.
std::string visible(std::string_view text, size_t most);

// Returns the reason why `text` cannot be part of a report's line: bytes that are no UTF-8, unseen characters. Empty:
// it can.
std::string why_unprintable(std::string_view text);

}  // namespace warpfold::escape
