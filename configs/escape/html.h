#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Returns text for a place between tags of HTML or SVG, or for a quoted attribute. & < > " ' become entities. All other
// characters become visible (visible.h): XML has no control characters, and one such byte in a name would make a
// picture that no program opens. Line breaks and tabs stay.
std::string html(std::string_view text);

// Returns JSON for a <script> block. HTML ends the block at the first </script and looks for <!-- before JavaScript
// does. So "<", ">" and "&", which JSON has in texts only, become \u escapes.
std::string script_json(std::string_view json);

}  // namespace warpfold::escape
