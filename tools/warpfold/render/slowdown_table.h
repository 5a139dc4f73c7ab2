#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Returns the causes that make each kernel slower than alone: its losses of a percent of the slowdown or more, largest first, and
// the sum of the smaller losses. Empty if no kernel is slower than alone by more than 1 %.
Table slowdown_table(const configs::Result& result);

}  // namespace warpfold::cli
