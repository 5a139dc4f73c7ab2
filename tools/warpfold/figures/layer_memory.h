#pragma once

#include <vector>

#include "configs/layer.pb.h"
#include "configs/model.pb.h"
#include "tools/warpfold/failure.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::cli {

struct MemoryPlan {
  double activations_mb = 0;  // of a layer
  double memory_gb = 0;       // of the GPU, instead: what weights, gradients and states leave, shared among the layers
  double host_gb_per_s = 0;   // each way; 0: nothing is offloaded
};

// Keeps activations of at most a budget for the backward pass. Without a link to the host, kernels run again in the order of their
// time for a byte that they leave, until the rest fits. What the link moves behind the kernels costs nothing: those whose kernels
// would take longest for a byte are offloaded up to that, the others run again; the link moves more where that does not suffice.
// `version` has the time of each of `kernels`. Fails where the budget cannot be met.
Outcome<configs::LayerMemory> layer_memory(const configs::TransformerModel& model, const layer::Graph& graph,
                                           const std::vector<layer::FusedKernel>& kernels, const configs::LayerVersion& version,
                                           const MemoryPlan& plan);

}  // namespace warpfold::cli
