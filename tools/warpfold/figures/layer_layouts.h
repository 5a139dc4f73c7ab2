#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "configs/layer.pb.h"
#include "tools/warpfold/failure.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::cli {

// Times of a kernel by the layout of all activations that it reads and stores: features innermost, tokens innermost.
struct LayoutTimes {
  std::array<std::optional<double>, 2> us{};
  bool mixed = false;  // the kernel may read one layout and store the other
};

// Finds the shortest path through the configurations of a forward pass. A node is the set of layouts of all tensors that later
// kernels read. An edge is a kernel in one of its configurations with the transpositions before it. The graph includes residual
// connections. The layer's input and output have features innermost.
//
// `times` has an entry for each kernel of the forward pass; these kernels come first in `kernels`. `transpose_us` is by root
// tensor. Fails if a kernel has no layout at all.
Outcome<configs::LayerLayouts> layer_layouts(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                             const configs::LayerVersion& version, const std::vector<LayoutTimes>& times,
                                             const std::map<int, double>& transpose_us);

// Returns the tensors whose layout is chosen: the root tensors of activations.
std::vector<int> laid_out(const layer::Graph& graph, const std::vector<int>& tensors);

}  // namespace warpfold::cli
