#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns text of the input for a table's cell or a line of Markdown, behind words of the program. It is visible
// (visible.h), with a backslash before markup characters (\ ` * _ [ ] # ! | ~ $). & < > become entities, because
// Markdown passes HTML on. So do the colon, dot and @ by which readers make links of http://x, www.x and a@b. An
// underscore inside a word is no markup and stays.
std::string markdown(std::string_view text);

// Returns the text as code in backquotes: visible, with single quotes for its own backquotes. Not for tables, whose
// cells end at a bar.
std::string markdown_code(std::string_view text);

}  // namespace warpfold::escape
