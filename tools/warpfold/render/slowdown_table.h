#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Why each kernel takes longer than alone: its losses that make up a percent of the slowdown or more, the largest first, and what
// is left. Empty where no kernel is slower than alone by 1 %.
Table slowdown_table(const configs::Result& result);

}  // namespace warpfold::cli
