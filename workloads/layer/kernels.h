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

// Inputs for the choice of kernels.
struct KernelSource {
  const configs::Gpu& gpu;
  configs::ElementType type;
  std::string library = "cuBLAS";  // library of matrix products on sm_90 and later
  const configs::OperatorKernels& listings;
  configs::TensorLayout layout = configs::FEATURES_INNERMOST;  // layout of activations
};

// Kernels of a scenario that run a launch, one after the other; or the reason why no kernel runs it.
struct LayerWorkload {
  std::vector<configs::Kernel> kernels;
  std::string reason_not_simulated;
  std::vector<configs::Kernel> candidates = {};  // alternatives to the only one of `kernels`; the fastest counts
};

// Returns the kernels that run a launch. Fails if a row of the table is wrong. A shape that a generator rejects is reported only
// when its kernel is made. A product reads and stores either layout at the same cost, because its operands are transposed on their
// way into the tensor core. Layout does not matter to a pass over arrays in which each element meets only equally placed elements.
Expected<LayerWorkload> workload_of(const Graph& graph, const FusedKernel& kernel, const KernelSource& source);

// Returns the kernel that converts a matrix of activations from one layout to the other.
Expected<LayerWorkload> transposition_of(uint64_t rows, uint64_t columns, const KernelSource& source);

}  // namespace warpfold::layer
