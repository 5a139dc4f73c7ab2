#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold {

// Edits (insertion, deletion, replacement, swap of neighbours) that turn `from` into `to`; upper and lower case are the same.
int edit_distance(std::string_view from, std::string_view to);

// The known name closest to `wrong`, or an empty string where none is near enough to be what was meant: at most a third of
// the letters (at least one, at most four) may differ. Of equally near names the first wins.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);

// The end of a diagnostic about an unknown name: `; did you mean "tile_n"?`, else `; known: a, b, c`, else nothing.
std::string suggestion(std::string_view wrong, const std::vector<std::string>& known);

}  // namespace warpfold
