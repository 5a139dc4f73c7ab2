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

// What a GPU can do at the most, by its data sheet and what-if factors.
struct Peaks {
  double tensor_tflops = 0;  // 16-bit products
  double vector_tflops = 0;  // FP32 of the CUDA cores, which everything else computes in
  double memory_gb_per_s = 0;
};
Peaks peaks_of(const configs::Gpu& gpu);

// GPUs that share a layer.
struct Links {
  uint64_t tensor_parallel = 1;
  uint64_t context_parallel = 1;
  double gb_per_s = 0;  // one way
  double latency_us = 0;
};
// By a ring: each GPU sends 2 (n - 1) / n of the bytes in 2 (n - 1) steps.
double all_reduce_us(double bytes, const Links& links);
// Each GPU sends (n - 1) / n of its bytes, to all others at a time.
double all_to_all_us(double bytes, const Links& links);

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

configs::LayerVersion layer_version(const LayerLaunches& launches, const Peaks& peaks, const Links& links);

// What each kernel of several operators saves against its operators by themselves. Both are of one graph.
void add_fusions(const configs::LayerVersion& alone, const configs::LayerVersion& fused, const Peaks& peaks,
                 configs::LayerReport& report);

// A model's training.
struct TrainingPlan {
  double tokens = 0;  // 0: not asked for
  uint64_t gpus = 1;
  bool remat = false;
};
// `version` is one of `graph`, both passes.
configs::LayerTraining layer_training(const configs::TransformerModel& model, const layer::Graph& graph,
                                      const configs::LayerVersion& version, const Peaks& peaks, const TrainingPlan& plan);

}  // namespace warpfold::cli
