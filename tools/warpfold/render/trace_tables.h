#pragma once

#include <string>
#include <vector>

#include "tools/warpfold/failure.h"
#include "tools/warpfold/render/table.h"
#include "traces/kernel.h"

namespace warpfold::cli {

using TraceTable = Table (*)(const std::vector<traces::Kernel>& kernels);

// Returns the table of static counts with a row for each "kernel", "role", "pipe", "opcode", "loop" or "stream".
Outcome<TraceTable> trace_table(const std::string& by);

}  // namespace warpfold::cli
