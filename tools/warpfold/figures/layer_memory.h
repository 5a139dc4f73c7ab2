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
  double memory_gb = 0;       // of the GPU, as an alternative: the layers share the memory that weights, gradients and states leave
  double host_gb_per_s = 0;   // each way; 0: nothing is offloaded
};

// Plans which activations stay in memory for the backward pass within a budget. Without a link to the host, activations are dropped
// in the order of their kernels' time per byte, and those kernels run again. With a link, transfers that fit behind the kernels are
// free: they take the activations whose kernels take longest per byte, and the other kernels run again. If that does not suffice,
// the link moves more.
//
// `version` has the time of each of `kernels`. Fails if the budget cannot be met.
Outcome<configs::LayerMemory> layer_memory(const configs::TransformerModel& model, const layer::Graph& graph,
                                           const std::vector<layer::FusedKernel>& kernels, const configs::LayerVersion& version,
                                           const MemoryPlan& plan);

}  // namespace warpfold::cli
