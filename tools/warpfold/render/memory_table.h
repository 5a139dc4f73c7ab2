#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// What each kernel asks of memory, a row for each kind of access.
Table memory_table(const configs::Result& result);

}  // namespace warpfold::cli
