#pragma once

#include <string>

#include "configs/result.pb.h"
#include "tools/warpfold/failure.h"

namespace warpfold::cli {

// Writes the trace of a result's timeline (tools/perfetto/timeline_trace.h) to a file, as write_output does.
Outcome<void> write_perfetto(const std::string& path, const configs::Result& result);

}  // namespace warpfold::cli
