#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// A text in the quotes of protobuf's text format, for scenarios that the program writes: quotes and backslashes with a backslash
// before them, control characters and bytes beyond ASCII that are no UTF-8 as \033, which a reader takes for the same bytes.
std::string text_format(std::string_view text);

// The rest of a comment of a text file or a shell script: one visible line (visible.h), for a line break would end the
// comment and begin a field or a command.
std::string comment(std::string_view text);

}  // namespace warpfold::escape
