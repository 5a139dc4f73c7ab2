#pragma once

#include <cstdint>
#include <vector>

#include "traces/import/path.h"

namespace warpfold::sass {

// Paths of several classes of CTAs as one. Each node has its passes in every class: of a block 1 or 0, of a loop its trips.
struct MergedNode {
  std::vector<uint64_t> passes;
  std::vector<Step> steps;       // of a block
  std::vector<MergedNode> body;  // of a loop
  bool loop = false;
};

// The union of the paths, in their order: what several have at the same place is there once. Every path must be followed by the
// nodes whose passes in its class are above 0.
std::vector<MergedNode> merge_paths(const std::vector<const Path*>& paths);

}  // namespace warpfold::sass
