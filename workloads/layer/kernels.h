#pragma once

#include <string>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/gpu.pb.h"
#include "configs/operator_kernels.pb.h"
#include "configs/scenario.pb.h"
#include "workloads/layer/fusion.h"
#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Where kernels for operators come from.
struct KernelSource {
  const configs::Gpu& gpu;
  configs::ElementType type;
  std::string library = "cuBLAS";  // of matrix products on sm_90 and later
  const configs::OperatorKernels& listings;
};

// Workloads of a scenario that run a launch one behind the other, or why none does.
struct LayerWorkload {
  std::vector<configs::Kernel> kernels;
  std::string why_none;
  std::vector<configs::Kernel> candidates = {};  // each does what the only one of `kernels` does; the fastest counts
};

// Fails where a row of the table is wrong. Shapes that a generator refuses are found when its kernel is made.
Expected<LayerWorkload> workload_of(const Graph& graph, const FusedKernel& kernel, const KernelSource& source);

}  // namespace warpfold::layer
