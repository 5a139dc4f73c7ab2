#pragma once

#include <string>
#include <vector>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// What the library's matrix products may apply to a result before it is stored.
enum class Epilogue {
  kScale,  // a factor, which every BLAS has: all that arXiv 2007.00072 fuses into contractions
  kOne,    // and the bias or the residual, not both: cuBLAS's addmm
  kFull,   // and everything elementwise behind it: bias, activation, dropout, residual
};

// Operators that one kernel runs, in order.
struct FusedKernel {
  std::string name;
  std::vector<int> operators;
  std::vector<int> inputs;   // tensors from memory
  std::vector<int> outputs;  // tensors that something outside reads
};

// The rules of arXiv 2007.00072, section IV. Operators that are no contractions are fused, in their order, with the kernel in front
// of them where they read a tensor that it makes or reads, have its iteration space, and reduce over nothing other than it does.
// Then kernels that follow each other are fused where none waits for the other and both sum over the same dimensions, or over none,
// with outer dimensions in common: a launch less.
std::vector<FusedKernel> fuse(const Graph& graph, Epilogue epilogue);
// Each operator by itself.
std::vector<FusedKernel> unfused(const Graph& graph);

// Words that a launch moves at the least: every tensor once.
uint64_t words_of(const Graph& graph, const FusedKernel& kernel);
uint64_t bytes_of(const Graph& graph, const FusedKernel& kernel);
uint64_t flops_of(const Graph& graph, const FusedKernel& kernel);
uint64_t words_of(const Graph& graph, const std::vector<FusedKernel>& kernels);

// From what the operators do and where they stand: letters of arXiv 2007.00072 (BDRLN: bias, dropout, residual, layer norm).
std::string fused_name(const Graph& graph, const FusedKernel& kernel);

}  // namespace warpfold::layer
