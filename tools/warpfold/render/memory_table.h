#pragma once

#include "configs/result.pb.h"
#include "tools/warpfold/render/table.h"

namespace warpfold::cli {

// Returns each kernel's memory accesses, with a row for each kind of access.
Table memory_table(const configs::Result& result);

}  // namespace warpfold::cli
