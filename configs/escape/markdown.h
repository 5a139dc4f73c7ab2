#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// A text of the input in a table's cell or a line of Markdown, behind words of ours: visible (visible.h), with a backslash
// before what Markdown reads as markup (\ ` * _ [ ] # ! | ~ $), and as entities & < >, because Markdown passes HTML on, and the
// colon, dot and @ by which readers make links of http://x, www.x and a@b. An underscore inside a word is no markup and stays.
std::string markdown(std::string_view text);

// The same as code, in backquotes: visible, its own backquotes as single quotes. Not for tables, whose cells end at a bar.
std::string markdown_code(std::string_view text);

}  // namespace warpfold::escape
