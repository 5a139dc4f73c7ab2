#pragma once

#include <string>
#include <vector>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Operations that the library's matrix products can apply to a result before they store it.
enum class Epilogue {
  kScale,  // a factor, which every BLAS supports: the only fusion into contractions in arXiv 2007.00072
  kOne,    // also the bias or the residual, but not both: cuBLAS's addmm
  kFull,   // also every elementwise operator that follows: bias, activation, dropout, residual
};

// Operators that one kernel runs, in order.
struct FusedKernel {
  std::string name;
  std::vector<int> operators;
  std::vector<int> inputs;   // tensors read from memory
  std::vector<int> outputs;  // tensors that other kernels or the layer's caller read
};

// Fuses operators by the rules of arXiv 2007.00072, section IV. An operator that is no contraction joins the preceding kernel if it
// reads a tensor that this kernel makes or reads, has the same iteration space, and reduces over the same dimensions or over none.
// Afterwards, consecutive kernels are fused, to save a launch, if neither depends on the other, both reduce over the same
// dimensions or over none, and they have outer dimensions in common.
std::vector<FusedKernel> fuse(const Graph& graph, Epilogue epilogue);
// Makes each operator a kernel of its own.
std::vector<FusedKernel> unfused(const Graph& graph);

// The least data of a launch: every tensor moves once.
uint64_t words_of(const Graph& graph, const FusedKernel& kernel);
uint64_t bytes_of(const Graph& graph, const FusedKernel& kernel);
uint64_t flops_of(const Graph& graph, const FusedKernel& kernel);
uint64_t words_of(const Graph& graph, const std::vector<FusedKernel>& kernels);

// The name of a fused kernel, in the letters of arXiv 2007.00072 (BDRLN: bias, dropout, residual, layer norm). It follows from the
// operators and their position in the layer.
std::string fused_name(const Graph& graph, const FusedKernel& kernel);

}  // namespace warpfold::layer
