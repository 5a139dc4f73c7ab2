#pragma once

#include <optional>

#include "traces/import/explore.h"
#include "traces/import/import.h"

namespace warpfold::sass {

// Adds a stream to the kernel for each array and kind of access, with its hit shares. Replaces the array in the steps
// of all paths by the stream, and fills the report's table of arrays. `caches`: those of the GPU, if one is named.
void add_streams(Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch,
                 const std::optional<access::CacheSpec>& caches, Imported& result);

}  // namespace warpfold::sass
