#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Text of several lines for a terminal: line breaks stay, as does the tab, and all else that a terminal obeys instead of showing it
// is visible (visible.h): escape sequences, which move the cursor, retitle the window or answer as if typed, carriage
// returns, which overwrite the line, and marks of direction. Everything that the program writes to standard output and error goes
// through it; a report of ordinary names is unchanged byte for byte.
std::string terminal(std::string_view text);

}  // namespace warpfold::escape
