#pragma once

#include <cstdint>

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Weights of the whole model, over all GPUs.
struct Parameters {
  uint64_t layers = 0;     // of all layers
  uint64_t on_gpu = 0;     // of them those on a GPU of tensor parallelism, which has a part of some and others whole
  uint64_t embedding = 0;  // of the tokens
  uint64_t output = 0;     // of the output layer; 0 where it multiplies by the embedding

  uint64_t all() const { return layers + embedding + output; }
  // Those that a token is multiplied by: a look-up costs no operations, a tied embedding is the output layer too.
  uint64_t multiplied() const { return all() - (output > 0 ? embedding : 0); }
};
// `graph`: one layer of the model on one GPU, with its backward pass.
Parameters parameters_of(const configs::TransformerModel& model, const Graph& graph);

// Floating-point operations of a training step, for each of its tokens.
struct StepFlops {
  double layers = 0;    // products and attention of all layers, counted operator by operator
  double output = 0;    // of the output layer: 6 d V
  double shortcut = 0;  // 6 n, without attention's scores; 8 n where the backward pass runs the forward pass again

  double counted() const { return layers + output; }
};
StepFlops step_flops(const configs::TransformerModel& model, const Graph& graph, bool remat);

// Seconds by the shortcut: (6 or 8) n tokens / rate.
double training_seconds(double parameters, double tokens, bool remat, double flops_per_second);

// Gradients of batches above the critical one say the same many times over (McCandlish et al., arXiv 1812.06162, equation 2.11:
// steps over the fewest less 1, times tokens over the fewest less 1, is 1; their ratio is the critical batch). All in tokens.
struct LossPlan {
  double fewest_tokens = 0;  // to the loss, in batches far below the critical one
  double batch = 0;          // of a step
  double critical_batch = 0;

  double tokens() const { return fewest_tokens * (1 + batch / critical_batch); }
  double steps() const { return tokens() / batch; }
  double fewest_steps() const { return fewest_tokens / critical_batch; }  // in batches far above it
};

}  // namespace warpfold::layer
