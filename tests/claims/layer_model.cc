#include "tests/claims/layer_model.h"

#include <filesystem>
#include <stdexcept>

#include "configs/load.h"
#include "configs/model.h"
#include "configs/operator_kernels.h"
#include "sim/gpu/simulate.h"
#include "tests/source_dir.h"
#include "tools/warpfold/run/layer_run.h"
#include "traces/stats.h"
#include "workloads/workloads.h"

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
  cli::LayerRequest request{.backward = how.backward, .fused = how.fused, .simulate = how.simulate};
  request.model = model;
  request.gpu = gpu;
  if (how.activations_mb > 0) request.memory = cli::MemoryPlan{.activations_mb = how.activations_mb};
  if (!how.kernels.empty()) {
    auto table = configs::load_operator_kernels(WARPFOLD_SOURCE_DIR "/configs/kernels/" + how.kernels + ".textproto");
    if (!table) throw std::runtime_error(table.error().text());
    request.listings = std::move(*table);
  }
  request.how.folding.options.error = 0.01;
  auto report = cli::run_layer(request);
  if (!report) throw std::runtime_error(report.error().text);
  return std::move(*report);
}

namespace {

traces::Kernel kernel_of_listing(const configs::Gpu& gpu, const std::string& launch, const std::vector<std::string>& settings) {
  const std::string file = std::string(WARPFOLD_SOURCE_DIR "/") + launch;
  auto description = configs::load_kernel_launch(file, settings);
  if (!description) throw std::runtime_error(description.error().text());
  configs::Kernel listed;
  listed.mutable_listing()->set_path((std::filesystem::path(file).parent_path() / description->listing()).string());
  *listed.mutable_listing()->mutable_description() = std::move(*description);
  listed.set_name("kernel");
  auto kernel = workloads::make_kernel(listed, gpu, "");
  if (!kernel) throw std::runtime_error(kernel.error().text());
  return std::move(*kernel);
}

}  // namespace

uint64_t issued_by_listing(const configs::Gpu& gpu, const std::string& launch, const std::vector<std::string>& settings,
                           const std::string& opcode) {
  uint64_t issued = 0;
  for (const traces::RoleStatistics& role : traces::statistics(kernel_of_listing(gpu, launch, settings)).roles) {
    for (const traces::OpcodeCount& each : role.opcodes) issued += each.name == opcode ? each.instructions.issued : 0;
  }
  return issued;
}

double simulated_us_of_listing(const configs::Gpu& gpu, const std::string& launch, const std::vector<std::string>& settings) {
  const traces::Kernel kernel = kernel_of_listing(gpu, launch, settings);
  sim::Options options;
  options.fold.error = 0.01;
  sim::Launch only;
  only.kernel = &kernel;
  const auto outcome = sim::simulate(gpu, {only}, options);
  if (!outcome) throw std::runtime_error(outcome.error().text());
  return static_cast<double>(outcome->total_cycles) / gpu.clock_mhz();
}

const configs::LayerKernel& kernel_called(const configs::LayerVersion& version, const std::string& name) {
  for (const configs::LayerKernel& each : version.kernels()) {
    if (each.name() == name) return each;
  }
  throw std::runtime_error("no kernel called " + name);
}

}  // namespace warpfold::test
