#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpfold::escape {

// `text` in one line of valid UTF-8 in which every character is seen: \n, \t and \r for those three, \x1b for other control
// characters of ASCII and for bytes that are no UTF-8, \u{202e} for what else is unseen (utf8.h). All else stays as it is,
// the backslash too, so that ordinary names do not change. For every place where a text of the input stands in prose: cells of
// tables, lines of reports, names of tracks.
std::string visible(std::string_view text);

// The same of at most `most` characters: what is longer ends in three dots, which count.
std::string visible(std::string_view text, size_t most);

// What keeps `text` from standing in a line of a report, empty where nothing does: bytes that are no UTF-8, unseen characters.
std::string why_unprintable(std::string_view text);

}  // namespace warpfold::escape
