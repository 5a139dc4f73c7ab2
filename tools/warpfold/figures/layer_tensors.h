#pragma once

#include <string>
#include <vector>

#include "configs/layer.pb.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::cli {

// Returns dimensions as text: "b 8, j 512".
std::string text_of(const layer::Dimensions& dimensions);

// Adds the tensors that kernels read and store, each with its kernels: the edges of the version's graph.
void add_tensors(const layer::Graph& graph, const std::vector<layer::FusedKernel>& kernels, configs::LayerVersion& version);

}  // namespace warpfold::cli
