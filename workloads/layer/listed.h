#pragma once

#include <expected>

#include "configs/model.pb.h"
#include "configs/places.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// The graph of a model that lists its operators, all passes; or the first thing wrong: an unknown operator, a tensor that nothing
// makes, a cycle, dimensions that do not fit, a layout that no kernel of the operator reads. Operators are put in an order in which
// each follows what it reads, else as they are listed.
std::expected<Graph, configs::Finding> listed_layer(const configs::TransformerModel& model);

}  // namespace warpfold::layer
