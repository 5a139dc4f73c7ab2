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

// The peak rates of a GPU: its data sheet's, or the machine's own if its file was changed away from the data sheet.
struct Peaks {
  double tensor_tflops = 0;  // of 16-bit products
  double vector_tflops = 0;  // FP32 on the CUDA cores, which compute everything but the products
  double memory_gb_per_s = 0;
};
Peaks peaks_of(const configs::Gpu& gpu);

// The simulation of one launch.
struct SimulatedLaunch {
  double us = 0;
  double limiter_us = 0;
  std::string limiter = {};
  uint64_t dram_bytes = 0;
  std::string kernel = {};
  std::string reason_not_simulated = {};  // the reason if the launch was not simulated; empty otherwise
};

struct LayerLaunches {
  std::string name;
  const layer::Graph& graph;
  std::vector<layer::FusedKernel> kernels;
  std::vector<SimulatedLaunch> simulated;  // by kernel
};

configs::LayerVersion layer_version(const LayerLaunches& launches, const Peaks& peaks, const configs::TransformerModel& model);

// Adds the saving of each fused kernel against its operators as kernels of their own. Both versions are of the same graph.
void add_fusions(const configs::LayerVersion& alone, const configs::LayerVersion& fused, const Peaks& peaks,
                 configs::LayerReport& report);

// The training run of a model.
struct TrainingPlan {
  double tokens = 0;  // 0: no training was asked about
  uint64_t gpus = 1;
  bool remat = false;
  double critical_batch = 0;  // tokens; 0: not stated
};
// `version` is a version of `graph` with both passes.
configs::LayerTraining layer_training(const configs::TransformerModel& model, const layer::Graph& graph,
                                      const configs::LayerVersion& version, const Peaks& peaks, const TrainingPlan& plan);

}  // namespace warpfold::cli
