#pragma once

#include "traces/import/path.h"

namespace warpfold::sass {

// Returns the same path with longer loops: passes that went through a ring's stages one by one, and no longer differ,
// become one body with more passes.
Path rerolled(const Path& path);

}  // namespace warpfold::sass
