#include "tests/layer/support.h"

#include <stdexcept>

namespace warpfold::layer {

namespace {

configs::TransformerModel plain() {
  configs::TransformerModel model;
  model.set_batch(2);
  model.set_sequence(256);
  model.set_type(configs::BF16);
  model.set_hidden(512);
  model.set_heads(8);
  model.set_kv_heads(8);
  model.set_head_dim(64);
  model.set_feed_forward(1024);
  model.set_activation(configs::GELU);
  model.set_tensor_parallel(1);
  model.set_context_parallel(1);
  model.set_layers(1);
  return model;
}

}  // namespace

configs::TransformerModel llama() {
  configs::TransformerModel model = plain();
  model.set_kv_heads(2);
  model.set_gated(true);
  model.set_activation(configs::SILU);
  model.set_norm(configs::RMS_NORM);
  model.set_causal(true);
  model.set_rotary(true);
  return model;
}

configs::TransformerModel gpt() {
  configs::TransformerModel model = plain();
  model.set_bias(true);
  model.set_dropout(true);
  model.set_causal(true);
  return model;
}

configs::TransformerModel adaptive() {
  configs::TransformerModel model = plain();
  model.set_bias(true);
  model.set_norm(configs::ADAPTIVE_LAYER_NORM);
  return model;
}

const Operator& operator_called(const Graph& graph, const std::string& name) {
  for (const Operator& each : graph.operators) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("no operator called " + name);
}

}  // namespace warpfold::layer
