#pragma once

#include <cstddef>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// The relation between the dimensions of an operator's tensors.
enum class Fit {
  kProduct,
  kAttention,
  kAttentionGradient,
  kMap,        // inputs have the dimensions of the result, in the same order, or are a row of them
  kRows,       // like kMap, with a sum over the innermost dimension
  kSums,       // the result has some of the input's dimensions; the operator sums over the others
  kTranspose,  // the same dimensions in another order
  kNone,       // not allowed in a list: transfers follow from the parallelism of a model card
};

// The numbers of tensors that an operator reads and makes, as in Tape.
struct Signature {
  Fit fit;
  size_t least_inputs;
  size_t most_inputs;
  size_t least_outputs;
  size_t most_outputs;
};
Signature signature_of(Work work);

}  // namespace warpfold::layer
