#pragma once

#include <string>

#include "configs/layer.pb.h"

namespace warpfold::report {

// Returns the dataflow graph of a version of a layer as SVG. The forward pass runs downwards; the backward pass runs upwards beside
// it, as its gradients flow. A kernel is a box with its operations, its traffic, its bound and its time. A kernel of several
// operators has an inner box for each. Tensors are edges with their sizes; tensors that the forward pass keeps for the backward
// pass are dashed. `alone`: a picture with its own style sheet, otherwise a part of the report's page.
std::string layer_graph(const configs::LayerReport& report, int version, bool alone);

}  // namespace warpfold::report
