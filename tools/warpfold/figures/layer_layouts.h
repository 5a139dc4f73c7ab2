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

// Times of a kernel by layout of all activations that it reads and stores: features innermost, tokens innermost.
struct LayoutTimes {
  std::array<std::optional<double>, 2> us{};
  bool mixed = false;  // may read one and store the other
};

// The shortest path through the configurations of a forward pass. A node is the layouts of all tensors that later kernels read, an
// edge a kernel in one of its configurations with the transpositions in front of it; residual connections are part of it. The
// layer's input and output have features innermost. `times`: of each kernel of the forward pass, which come first in `kernels`;
// `transpose_us`: of a root tensor. Fails where a kernel has no layout at all.
Outcome<configs::LayerLayouts> layer_layouts(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                             const configs::LayerVersion& version, const std::vector<LayoutTimes>& times,
                                             const std::map<int, double>& transpose_us);

// Tensors whose layout is chosen: activations, as they lie in memory.
std::vector<int> laid_out(const layer::Graph& graph, const std::vector<int>& tensors);

}  // namespace warpfold::cli
