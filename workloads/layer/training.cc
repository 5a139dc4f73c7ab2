#include "workloads/layer/training.h"

#include <algorithm>

namespace warpfold::layer {

namespace {

// Operations per weight and token: a multiplication and an addition forward, and twice as many backward; forward once more if
// activations were not kept.
double passes(bool remat) { return remat ? 8 : 6; }

// Number of GPUs that each compute a part of the operator. Context parallelism divides the tokens. Every GPU computes an operator
// without tokens, such as the modulation of a sequence.
uint64_t gpus_of(const configs::TransformerModel& model, const Operator& each) {
  const auto is_token = [](const Dimension& one) { return one.name == "j"; };
  const bool tokens = std::ranges::any_of(each.independent, is_token) || std::ranges::any_of(each.reduction, is_token);
  return (each.split ? model.tensor_parallel() : 1) * (tokens ? model.context_parallel() : 1);
}

}  // namespace

Parameters parameters_of(const configs::TransformerModel& model, const Graph& graph) {
  Parameters parameters;
  for (const Tensor& each : graph.tensors) {
    if (each.role != Role::kWeight) continue;
    parameters.on_gpu += each.words();
    parameters.layers += each.words() * (each.split ? model.tensor_parallel() : 1);
  }
  parameters.layers *= model.layers();
  parameters.on_gpu *= model.layers();
  parameters.embedding = model.vocabulary() * model.hidden();
  parameters.output = model.tied_embeddings() ? 0 : parameters.embedding;
  return parameters;
}

StepFlops step_flops(const configs::TransformerModel& model, const Graph& graph, bool remat) {
  StepFlops flops;
  const double tokens = static_cast<double>(model.batch()) * static_cast<double>(model.sequence());
  for (const Operator& each : graph.operators) {
    if (each.kind != OperatorClass::kContraction && each.kind != OperatorClass::kAttention) continue;
    const double again = remat && each.pass == Pass::kForward ? 2 : 1;
    // Recomputed scores in the backward pass of attention are no work of the model: it counts four products instead of five.
    const double of_model = each.work == Work::kAttentionGradient ? 4.0 / 5 : 1;
    flops.layers += static_cast<double>(each.flops) * static_cast<double>(gpus_of(model, each)) * again * of_model;
  }
  flops.layers *= static_cast<double>(model.layers()) / tokens;
  flops.output = passes(remat) * static_cast<double>(model.hidden()) * static_cast<double>(model.vocabulary());
  flops.shortcut = passes(remat) * static_cast<double>(parameters_of(model, graph).multiplied());
  return flops;
}

double training_seconds(double parameters, double tokens, bool remat, double flops_per_second) {
  return passes(remat) * parameters * tokens / flops_per_second;
}

}  // namespace warpfold::layer
