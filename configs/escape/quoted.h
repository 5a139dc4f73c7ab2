#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpfold::escape {

// A name or a value of the input, as a message quotes it: in double quotes, visible (visible.h), at most 80 characters of
// it, so that a message stays a line whatever the input is:
//
//   "clo\x1b[31mck_mhz"
//   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
inline constexpr size_t kMostQuoted = 80;
std::string quoted(std::string_view text);
// The same without the quotes, behind a word that says which kind of text it is: --set seq=1000: ...
std::string unquoted(std::string_view text);

// A path or another long text, without quotes, as a message begins with it: visible and of at most 160 characters. Of a longer
// path the end stays, with the whole of the file's name where that fits: ".../study/points/kernel.textproto".
inline constexpr size_t kMostOfPath = 160;
std::string path(std::string_view file);
std::string quoted_path(std::string_view file);

// Returns another library's message about the input, visible and of at most 160 characters. The library may quote the
// input at any length.
std::string remark(std::string_view text);

}  // namespace warpfold::escape
