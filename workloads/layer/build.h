#pragma once

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// What of a layer is wanted.
struct Parts {
  bool backward = true;
  bool update = true;   // the optimiser's step, where the model names one
  bool stacked = true;  // algebraic fusion: projections of one input are one product
};

// The operators of one layer of `model` on one GPU, each a kernel as an eager framework launches it.
// `model` is checked and has its defaults (configs::load_model).
Graph build_layer(const configs::TransformerModel& model, const Parts& parts);

}  // namespace warpfold::layer
