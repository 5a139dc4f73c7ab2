#pragma once

#include <string>

#include "configs/model.pb.h"
#include "workloads/layer/build.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Small layers: Llama's (RMSNorm, gated, rotary, shared keys), GPT's (LayerNorm, biases, dropout), DiT's (modulated).
configs::TransformerModel llama();
configs::TransformerModel gpt();
configs::TransformerModel adaptive();

const Operator& operator_called(const Graph& graph, const std::string& name);

}  // namespace warpfold::layer
