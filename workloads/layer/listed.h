#pragma once

#include <expected>

#include "configs/model.pb.h"
#include "configs/places.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Returns the graph, with all passes, of a model that lists its operators, or the first fault. Faults are an unknown operator, a
// tensor that no operator makes, a cycle, dimensions that do not fit, and a layout that no kernel of the operator reads. Operators
// follow the operators that make their inputs, and otherwise keep the order of the list.
std::expected<Graph, configs::Finding> listed_layer(const configs::TransformerModel& model);

}  // namespace warpfold::layer
