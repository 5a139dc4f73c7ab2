#pragma once

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// The parts of a layer to build.
struct Parts {
  bool backward = true;
  bool update = true;   // the optimiser's step, if the model names an optimiser
  bool stacked = true;  // algebraic fusion: the projections of one input are one product
};

// Returns the operators of one layer of `model` on one GPU, each of them a kernel as an eager framework launches it. `model` is
// checked and has its defaults (configs::load_model).
Graph build_layer(const configs::TransformerModel& model, const Parts& parts);

}  // namespace warpfold::layer
