#pragma once

#include <optional>

#include "traces/import/explore.h"
#include "traces/import/import.h"

namespace warpfold::sass {

// Adds a stream to the kernel for each array and kind of access, with its shares of hits, gives the steps of all paths their
// stream in place of their array, and writes the arrays' table. `caches`: of the GPU, where one is named.
void add_streams(Exploration& found, const std::vector<Op>& ops, const LaunchFacts& launch,
                 const std::optional<access::CacheSpec>& caches, Imported& result);

}  // namespace warpfold::sass
