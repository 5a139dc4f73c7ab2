#pragma once

#include <string>

#include "tools/warpfold/run/file_kind.h"

namespace warpfold::cli {

// Returns the end of a message that refuses the file as a scenario: a scenario in one line, whose only kernel is that of the SASS
// listing, the trace, or the trace of Accel-Sim's tracer. Its GPU has the kernel's architecture; grid and block of a listing are
// placeholders. Empty for files of other kinds, and for damaged ones.
std::string minimal_scenario(FileKind kind, const std::string& path);

}  // namespace warpfold::cli
