#pragma once

#include <string>
#include <string_view>

namespace warpfold::escape {

// Text between tags of HTML or SVG, or in a quoted attribute: & < > " ' as entities, and the rest visible (visible.h),
// because XML has no control characters at all: one byte of a name would make a picture that no program opens. Line breaks and
// tabs stay.
std::string html(std::string_view text);

// JSON inside a <script> block, where HTML ends the block at the first </script and looks for <!-- before JavaScript does: "<",
// ">" and "&", which JSON knows in texts alone, as \u escapes.
std::string script_json(std::string_view json);

}  // namespace warpfold::escape
