#include "tests/claims/layer_model.h"

#include <stdexcept>

#include "configs/load.h"
#include "configs/model.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/layer_run.h"

namespace warpfold::test {

configs::TransformerModel model_called(const std::string& name, const std::vector<std::string>& settings) {
  auto model = configs::load_model(std::string(WARPFOLD_SOURCE_DIR "/configs/models/") + name + ".textproto", settings);
  if (!model) throw std::runtime_error(model.error().text());
  return std::move(*model);
}

configs::Gpu gpu_called(const std::string& name) {
  auto gpu = configs::load_gpu(std::string(WARPFOLD_SOURCE_DIR "/configs/gpus/") + name + ".textproto");
  if (!gpu) throw std::runtime_error(gpu.error().text());
  return std::move(*gpu);
}

configs::LayerReport layer_of(const configs::TransformerModel& model, const configs::Gpu& gpu, const LayerRun& how) {
  cli::LayerRequest request{.fused = how.fused, .simulate = how.simulate};
  request.model = model;
  request.gpu = gpu;
  if (how.activations_mb > 0) request.memory = cli::MemoryPlan{.activations_mb = how.activations_mb};
  request.how.folding.options.error = 0.01;
  auto report = cli::run_layer(request);
  if (!report) throw std::runtime_error(report.error().text);
  return std::move(*report);
}

const configs::LayerKernel& kernel_called(const configs::LayerVersion& version, const std::string& name) {
  for (const configs::LayerKernel& each : version.kernels()) {
    if (each.name() == name) return each;
  }
  throw std::runtime_error("no kernel called " + name);
}

}  // namespace warpfold::test
