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
  double activations_mb = 0;  // 0: no budget is asked about
};
configs::LayerReport layer_of(const configs::TransformerModel& model, const configs::Gpu& gpu, const LayerRun& how);

// A kernel of a version by its name.
const configs::LayerKernel& kernel_called(const configs::LayerVersion& version, const std::string& name);

}  // namespace warpfold::test
