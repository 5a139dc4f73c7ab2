#include "tools/warpfold/figures/layer_figures.h"
#include "workloads/layer/training.h"

namespace warpfold::cli {

configs::LayerTraining layer_training(const configs::TransformerModel& model, const layer::Graph& graph,
                                      const configs::LayerVersion& version, const Peaks& peaks, const TrainingPlan& plan) {
  const layer::Parameters parameters = layer::parameters_of(model, graph);
  const layer::StepFlops flops = layer::step_flops(model, graph, plan.remat);
  configs::LayerTraining training;
  training.set_tokens(plan.tokens);
  training.set_gpus(plan.gpus);
  training.set_remat(plan.remat);
  training.set_parameters(parameters.all());
  training.set_multiplied_parameters(parameters.multiplied());
  training.set_counted_flops(flops.counted());
  training.set_shortcut_flops(flops.shortcut);
  double us = 0;
  for (const configs::LayerKernel& kernel : version.kernels())
    us += kernel.time_us() * (plan.remat && kernel.pass() == "forward" ? 2 : 1);
  training.set_layer_us(us);
  const double sharing = static_cast<double>(model.tensor_parallel()) * static_cast<double>(model.context_parallel());
  const double tokens = static_cast<double>(model.batch()) * static_cast<double>(model.sequence());
  const double of_layer = flops.layers / static_cast<double>(model.layers()) * tokens / sharing;
  training.set_tflops(of_layer / us / 1e6);
  training.set_mfu_percent(100 * training.tflops() / peaks.tensor_tflops);
  const double rate = training.tflops() * 1e12 * static_cast<double>(plan.gpus);
  training.set_tokens_per_second(rate / flops.counted());
  training.set_seconds(plan.tokens * flops.counted() / rate);
  training.set_step_tokens(tokens * static_cast<double>(plan.gpus) / sharing);
  if (plan.critical_batch > 0) {
    const layer::LossPlan loss{plan.tokens, training.step_tokens(), plan.critical_batch};
    const double step_seconds = training.step_tokens() / training.tokens_per_second();
    training.set_critical_batch(plan.critical_batch);
    training.set_loss_tokens(loss.tokens());
    training.set_loss_steps(loss.steps());
    training.set_loss_seconds(loss.steps() * step_seconds);
    training.set_least_loss_seconds(loss.fewest_steps() * step_seconds);
  }
  training.set_shortcut_seconds(
      layer::training_seconds(static_cast<double>(parameters.multiplied()), plan.tokens, plan.remat, rate));
  return training;
}

}  // namespace warpfold::cli
