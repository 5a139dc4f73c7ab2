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
  configs::TensorLayout layout = configs::FEATURES_INNERMOST;  // of activations
};

// Workloads of a scenario that run a launch one behind the other, or why none does.
struct LayerWorkload {
  std::vector<configs::Kernel> kernels;
  std::string why_none;
  std::vector<configs::Kernel> candidates = {};  // each does what the only one of `kernels` does; the fastest counts
};

// Fails where a row of the table is wrong. Shapes that a generator refuses are found when its kernel is made.
// A product reads and stores either layout at the same cost: its operands are turned on their way into the tensor core. A pass over
// arrays whose elements meet their like alone does not know the layout.
Expected<LayerWorkload> workload_of(const Graph& graph, const FusedKernel& kernel, const KernelSource& source);

// The kernel that turns a matrix of activations from one layout to the other.
Expected<LayerWorkload> transposition_of(uint64_t rows, uint64_t columns, const KernelSource& source);

}  // namespace warpfold::layer
