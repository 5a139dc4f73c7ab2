#pragma once

#include <cstdint>

#include "configs/model.pb.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Numbers of weights of the whole model, over all GPUs.
struct Parameters {
  uint64_t layers = 0;     // weights of all layers
  uint64_t on_gpu = 0;     // weights of `layers` on one GPU: with tensor parallelism, parts of some and all of others
  uint64_t embedding = 0;  // weights of the tokens' embedding
  uint64_t output = 0;     // weights of the output layer; 0 if it uses the embedding

  uint64_t all() const { return layers + embedding + output; }
  // Weights by which each token is multiplied. A look-up in the embedding costs no operations; a tied embedding also serves as the
  // output layer.
  uint64_t multiplied() const { return all() - (output > 0 ? embedding : 0); }
};
// `graph`: one layer of the model on one GPU, with its backward pass.
Parameters parameters_of(const configs::TransformerModel& model, const Graph& graph);

// Floating-point operations per token of a training step.
struct StepFlops {
  double layers = 0;    // products and attention of all layers, counted operator by operator
  double output = 0;    // output layer: 6 d V
  double shortcut = 0;  // 6 n, without attention's scores; 8 n if the backward pass repeats the forward pass

  double counted() const { return layers + output; }
};
StepFlops step_flops(const configs::TransformerModel& model, const Graph& graph, bool remat);

// Seconds by the shortcut: (6 or 8) n tokens / rate.
double training_seconds(double parameters, double tokens, bool remat, double flops_per_second);

// Tokens and steps of a training run that reaches a given loss. Above the critical batch, the gradients of a batch are increasingly
// redundant. Source: McCandlish et al., arXiv 1812.06162, equation 2.11: (steps / fewest steps - 1) x (tokens / fewest tokens - 1)
// = 1. The critical batch is fewest tokens / fewest steps. All fields are in tokens.
struct LossPlan {
  double fewest_tokens = 0;  // tokens to reach the loss in batches far below the critical batch
  double batch = 0;          // per step
  double critical_batch = 0;

  double tokens() const { return fewest_tokens * (1 + batch / critical_batch); }
  double steps() const { return tokens() / batch; }
  double fewest_steps() const { return fewest_tokens / critical_batch; }  // steps in batches far above the critical batch
};

}  // namespace warpfold::layer
