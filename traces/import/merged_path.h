#pragma once

#include <cstdint>
#include <vector>

#include "traces/import/path.h"

namespace warpfold::sass {

// Node of the merged paths of several CTA classes, with its passes in every class: 1 or 0 for a block, trips for a
// loop.
struct MergedNode {
  std::vector<uint64_t> passes;
  std::vector<Step> steps;       // if a block
  std::vector<MergedNode> body;  // if a loop
  bool loop = false;
};

// Merges the paths in their order. Nodes that several paths have at the same place occur once. Following the nodes with
// passes above 0 in a class reproduces that class's path.
std::vector<MergedNode> merge_paths(const std::vector<const Path*>& paths);

}  // namespace warpfold::sass
