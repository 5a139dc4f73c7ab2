#pragma once

#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/layer.pb.h"
#include "configs/model.pb.h"

namespace warpfold::test {

// Of configs/models and configs/gpus.
configs::TransformerModel model_called(const std::string& name, const std::vector<std::string>& settings = {});
configs::Gpu gpu_called(const std::string& name);

// `warpfold layer` on them.
struct LayerRun {
  bool simulate = false;
  bool fused = false;
  bool backward = true;
  double activations_mb = 0;  // 0: no budget is asked about
  std::string kernels = {};   // of configs/kernels: the table of listings; default: none
};
configs::LayerReport layer_of(const configs::TransformerModel& model, const configs::Gpu& gpu, const LayerRun& how);

// Of a listing's launch description by itself.
double simulated_us_of_listing(const configs::Gpu& gpu, const std::string& launch, const std::vector<std::string>& settings);

// Warp instructions of one opcode that a listing issues, by its text and trip counts.
uint64_t issued_by_listing(const configs::Gpu& gpu, const std::string& launch, const std::vector<std::string>& settings,
                           const std::string& opcode);

// A kernel of a version by its name.
const configs::LayerKernel& kernel_called(const configs::LayerVersion& version, const std::string& name);

}  // namespace warpfold::test
