#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::layer {

// One dimension of an iteration space or a tensor, named by the letters of Ivanov et al., arXiv 2007.00072. The letters are b
// batch, j query, k key, h head, g key/value head, p within a head, i hidden, u feed-forward, q the stacked projections.
struct Dimension {
  std::string name = {};
  uint64_t size = 1;

  bool operator==(const Dimension&) const = default;
};
using Dimensions = std::vector<Dimension>;
uint64_t volume(const Dimensions& dimensions);

// The kind of values that a tensor holds.
enum class Role {
  kActivation,
  kWeight,
  kGradient,
  kMask,       // the elements that a dropout kept
  kStatistic,  // one or two numbers per row; left out of word counts, as in the table of arXiv 2007.00072
  kState,      // state of the optimiser
};

struct Tensor {
  std::string name = {};
  Role role = Role::kActivation;
  Dimensions dimensions = {};
  uint32_t bytes = 2;               // per word
  int parent = -1;                  // the tensor of which this tensor is a part, without memory of its own
  int producer = -1;                // an operator; -1: the layer's input
  std::vector<int> consumers = {};  // operators, in order
  bool result = false;              // read after the layer: its output, and gradients of inputs and weights
  bool split = false;  // a weight that tensor parallelism divides among the GPUs; otherwise each GPU has the whole weight

  uint64_t words() const { return role == Role::kStatistic ? 0 : volume(dimensions); }
};

enum class Pass { kForward, kBackward, kUpdate };

enum class OperatorClass {
  kContraction,
  kNormalisation,  // reduces, then maps or stores the sums: softmax, layer norm, the gradient of a bias
  kElementwise,
  kAttention,  // attention as one kernel
  kCommunication,
  kOptimiser,
};

// The computation of an operator.
enum class Work {
  kProduct,  // a matrix product, or a batch of them
  kAttention,
  kAttentionGradient,
  kBias,
  kBiasGradient,
  kScale,
  kDropout,
  kDropoutGradient,
  kResidual,
  kAccumulate,  // adds up the gradients of a tensor that several operators have read
  kRelu,
  kReluGradient,
  kGelu,
  kGeluGradient,
  kSilu,
  kSiluGradient,
  kMultiply,
  kMultiplyGradient,
  kSoftmax,
  kSoftmaxGradient,
  kLayerNorm,
  kLayerNormGradient,
  kLayerNormWeightGradient,
  kRmsNorm,
  kRmsNormGradient,
  kRmsNormWeightGradient,
  kRope,
  kRopeGradient,
  kModulate,  // x (1 + scale) + shift, per sequence
  kModulateGradient,
  kModulationGradient,  // gradients of shift and scale
  kGate,
  kGateGradient,
  kGateWeightGradient,
  kAllReduce,
  kAllToAll,       // trades all heads of some tokens for some heads of all tokens, or back
  kAllGather,      // all tokens, or the whole of a weight
  kReduceScatter,  // sums the GPUs' parts; each GPU gets the sums of some tokens
  kSgd,
  kAdam,
  kTranspose,  // between layouts
};

// A matrix product of m x k by k x n, `count` times.
struct Product {
  uint64_t m = 0;
  uint64_t n = 0;
  uint64_t k = 0;
  uint64_t count = 1;
};

struct Operator {
  std::string name = {};
  Work work = Work::kBias;
  OperatorClass kind = OperatorClass::kElementwise;
  Pass pass = Pass::kForward;
  bool attention = false;  // part of multi-head attention, including the biases of its projections
  bool split = false;      // each GPU of tensor parallelism computes a part; otherwise each computes the whole operator
  Dimensions independent = {};
  Dimensions reduction = {};
  std::vector<int> inputs = {};
  std::vector<int> outputs = {};
  uint64_t flops = 0;
  Product product{};    // kProduct
  bool causal = false;  // kAttention and its gradient
  bool drops = false;   // kAttention and its gradient: with dropout of the probabilities
};

// Operators in the order in which a framework launches them, and the tensors between them.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;

  const Tensor& tensor(int id) const { return tensors[static_cast<size_t>(id)]; }
  // Operators that write the tensor, a part of it, or the tensor of which it is a part.
  std::vector<int> producers(int id) const;
  // The tensor that owns the memory of `id`: itself, or the whole of which it is a part.
  int root(int id) const;
  uint64_t words(const std::vector<int>& ids) const;
  uint64_t bytes(const std::vector<int>& ids) const;
};

const char* name_of(Work work);
const char* name_of(OperatorClass kind);
const char* name_of(Pass pass);
const char* name_of(Role role);
// Names of all values of Work, in order.
std::vector<std::string> work_names();

}  // namespace warpfold::layer
