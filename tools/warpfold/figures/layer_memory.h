#pragma once

#include <vector>

#include "configs/layer.pb.h"
#include "tools/warpfold/failure.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::cli {

// Keeps activations of at most `budget_mb` for the backward pass. Kernels run again in the order of their time for a byte that they
// leave, until the rest fits; `version` has the time of each of `kernels`. Fails where the layer's input alone is larger.
Outcome<configs::LayerMemory> layer_memory(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels,
                                           const configs::LayerVersion& version, double budget_mb);

}  // namespace warpfold::cli
