#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns text for the quotes of protobuf's text format, for scenarios that the program writes. Quotes and backslashes
// get a backslash before them. Control characters, and bytes beyond ASCII that are no UTF-8, become octal as \033; a
// reader gets the same bytes.
std::string text_format(std::string_view text);

// Returns text for a comment of a text file or a shell script: one visible line (visible.h). A line break would end the
// comment and begin a field or a command.
std::string comment(std::string_view text);

}  // namespace warpfold::escape
