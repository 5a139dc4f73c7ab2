#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns text of several lines for a terminal. Line breaks and tabs stay. All other characters that a terminal obeys
// instead of showing them become visible (visible.h):
// - escape sequences, which move the cursor, retitle the window or answer as if typed;
// - carriage returns, which overwrite the line;
// - marks of direction.
// Everything that the program writes to standard output and error goes through it. A report of ordinary names is
// unchanged byte for byte.
std::string terminal(std::string_view text);

}  // namespace warpfold::escape
