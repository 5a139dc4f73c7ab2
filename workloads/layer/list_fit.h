#pragma once

#include <optional>
#include <string>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

struct Misfit {
  int input = -1;  // of the operator; -1: it as a whole
  std::string message;
};

// Fills in the iteration space of an operator, and the shape of a product, from its tensors. Fails where dimensions do not fit, or
// lie in memory in an order that no kernel of the operator reads.
std::optional<Misfit> fit_operator(const Graph& graph, Operator& each);

}  // namespace warpfold::layer
