#pragma once

#include "traces/import/path.h"

namespace warpfold::sass {

// The same path with more of it in loops: passes that went round a ring's stages one by one, and differ no longer, are one body
// that goes round more often.
Path rerolled(const Path& path);

}  // namespace warpfold::sass
