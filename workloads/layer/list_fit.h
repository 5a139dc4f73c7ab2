#pragma once

#include <optional>
#include <string>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

struct Misfit {
  int input = -1;  // index of the operator's input; -1: the operator as a whole
  std::string message;
};

// Fills in an operator's iteration space, and the shape of a product, from its tensors. Returns a misfit if dimensions do not fit,
// or if their order in memory is one that no kernel of the operator reads.
std::optional<Misfit> fit_operator(const Graph& graph, Operator& each);

}  // namespace warpfold::layer
