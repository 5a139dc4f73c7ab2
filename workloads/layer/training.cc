#include "workloads/layer/training.h"

namespace warpfold::layer {

namespace {

// Of a weight, for each token: a multiplication and an addition forward, twice as many backward; forward again where nothing was
// kept.
double passes(bool remat) { return remat ? 8 : 6; }

}  // namespace

Parameters parameters_of(const configs::TransformerModel& model, const Graph& graph) {
  Parameters parameters;
  for (const Tensor& each : graph.tensors) {
    if (each.role != Role::kWeight) continue;
    // Products are shared by GPUs; norms and what is added to their sums every GPU has.
    const bool shared = each.dimensions.size() > 1 && each.dimensions.front().name != "2";
    parameters.layers += each.words() * (shared ? model.tensor_parallel() : 1);
  }
  parameters.layers *= model.layers();
  parameters.embedding = model.vocabulary() * model.hidden();
  parameters.output = model.tied_embeddings() ? 0 : parameters.embedding;
  return parameters;
}

StepFlops step_flops(const configs::TransformerModel& model, const Graph& graph, bool remat) {
  StepFlops flops;
  const double gpus = static_cast<double>(model.tensor_parallel()) * static_cast<double>(model.context_parallel());
  const double tokens = static_cast<double>(model.batch()) * static_cast<double>(model.sequence());
  for (const Operator& each : graph.operators) {
    if (each.kind != OperatorClass::kContraction && each.kind != OperatorClass::kAttention) continue;
    const double again = remat && each.pass == Pass::kForward ? 2 : 1;
    // Scores that a backward pass of attention makes a second time are no work of the model's: four products in place of five.
    const double of_model = each.work == Work::kAttentionGradient ? 4.0 / 5 : 1;
    flops.layers += static_cast<double>(each.flops) * again * of_model;
  }
  flops.layers *= static_cast<double>(model.layers()) * gpus / tokens;
  flops.output = passes(remat) * static_cast<double>(model.hidden()) * static_cast<double>(model.vocabulary());
  flops.shortcut = passes(remat) * static_cast<double>(parameters_of(model, graph).multiplied());
  return flops;
}

double training_seconds(double parameters, double tokens, bool remat, double flops_per_second) {
  return passes(remat) * parameters * tokens / flops_per_second;
}

}  // namespace warpfold::layer
