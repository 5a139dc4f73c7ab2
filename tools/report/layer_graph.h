#pragma once

#include <string>

#include "configs/layer.pb.h"

namespace warpfold::report {

// The dataflow graph of a version of a layer as SVG: the forward pass downwards, the backward pass beside it upwards, as its
// gradients flow. A kernel is a box with what it computes and moves, what binds it and its time; one of several operators has a box
// for each. Tensors are edges with their sizes; those that the forward pass keeps for the backward pass are dashed. `alone`: a
// picture with its own style sheet; else it is a part of the report's page.
std::string layer_graph(const configs::LayerReport& report, int version, bool alone);

}  // namespace warpfold::report
