#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "configs/gpu.pb.h"
#include "configs/layer.pb.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::cli {

// What a GPU can do at the most: by its data sheet, or by the rates of a machine that is not the data sheet's.
struct Peaks {
  double tensor_tflops = 0;  // 16-bit products
  double vector_tflops = 0;  // FP32 of the CUDA cores, which everything else computes in
  double memory_gb_per_s = 0;
};
Peaks peaks_of(const configs::Gpu& gpu);

// A launch as it was simulated.
struct SimulatedLaunch {
  double us = 0;
  double limiter_us = 0;
  std::string limiter = {};
  uint64_t dram_bytes = 0;
  std::string kernel = {};
  std::string why_not = {};  // it was not
};

struct LayerLaunches {
  std::string name;
  const layer::Graph& graph;
  std::vector<layer::FusedKernel> kernels;
  std::vector<SimulatedLaunch> simulated;  // of each
};

configs::LayerVersion layer_version(const LayerLaunches& launches, const Peaks& peaks, const configs::TransformerModel& model);

// What each kernel of several operators saves against its operators by themselves. Both are of one graph.
void add_fusions(const configs::LayerVersion& alone, const configs::LayerVersion& fused, const Peaks& peaks,
                 configs::LayerReport& report);

// A model's training.
struct TrainingPlan {
  double tokens = 0;  // 0: not asked for
  uint64_t gpus = 1;
  bool remat = false;
  double critical_batch = 0;  // tokens; 0: not stated
};
// `version` is one of `graph`, both passes.
configs::LayerTraining layer_training(const configs::TransformerModel& model, const layer::Graph& graph,
                                      const configs::LayerVersion& version, const Peaks& peaks, const TrainingPlan& plan);

}  // namespace warpfold::cli
