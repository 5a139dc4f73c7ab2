#pragma once

#include <optional>
#include <string>

#include "configs/gpu.pb.h"
#include "configs/layer.pb.h"
#include "configs/model.pb.h"
#include "configs/operator_kernels.pb.h"
#include "tools/warpfold/failure.h"
#include "tools/warpfold/figures/layer_figures.h"
#include "tools/warpfold/figures/layer_memory.h"
#include "tools/warpfold/run/run_options.h"
#include "workloads/layer/build.h"
#include "workloads/layer/fusion.h"

namespace warpfold::cli {

// A question about a layer.
struct LayerRequest {
  configs::TransformerModel model{};  // checked, with its defaults
  configs::Gpu gpu{};
  configs::OperatorKernels listings{};
  std::string library = "cuBLAS";
  bool backward = true;
  bool fused = false;  // in addition to the unfused layer
  bool simulate = true;
  layer::Epilogue epilogue = layer::Epilogue::kScale;
  TrainingPlan training{};
  bool layouts = false;                // of the forward pass
  std::optional<MemoryPlan> memory{};  // budget for the activations that a layer keeps for its backward pass
  std::string command_line = {};
  RunOptions how{};
};

// Runs a layer. Operators with equal kernels are simulated once. A shape that no generator takes has the roofline's time, with the
// reason.
Outcome<configs::LayerReport> run_layer(const LayerRequest& request);

}  // namespace warpfold::cli
