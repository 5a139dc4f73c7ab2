#pragma once

#include <cstddef>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// How an operator's tensors have to fit each other.
enum class Fit {
  kProduct,
  kAttention,
  kAttentionGradient,
  kMap,        // what it reads has the dimensions of what it makes, in the same order, or is a row of them
  kRows,       // the same, and it sums over the innermost dimension
  kSums,       // what it makes has some of the dimensions of what it reads, and it sums over the others
  kTranspose,  // the same dimensions in another order
  kNone,       // no operator of a list: transfers follow from the parallelism of a model card
};

// Tensors that an operator reads and makes, as Tape makes it.
struct Signature {
  Fit fit;
  size_t least_inputs;
  size_t most_inputs;
  size_t least_outputs;
  size_t most_outputs;
};
Signature signature_of(Work work);

}  // namespace warpfold::layer
