#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::layer {

// One dimension of an iteration space or a tensor, by the letters of Ivanov et al., arXiv 2007.00072: b batch, j query, k key,
// h head, g key/value head, p within a head, i hidden, u feed-forward, q the stacked projections.
struct Dimension {
  std::string name = {};
  uint64_t size = 1;

  bool operator==(const Dimension&) const = default;
};
using Dimensions = std::vector<Dimension>;
uint64_t volume(const Dimensions& dimensions);

// What kind of numbers a tensor holds.
enum class Role {
  kActivation,
  kWeight,
  kGradient,
  kMask,       // which elements a dropout kept
  kStatistic,  // a number or two a row: counted in no word sum, as in the table of arXiv 2007.00072
  kState,      // of the optimiser
};

struct Tensor {
  std::string name = {};
  Role role = Role::kActivation;
  Dimensions dimensions = {};
  uint32_t bytes = 2;               // of a word
  int parent = -1;                  // a part of that tensor: no memory of its own
  int producer = -1;                // an operator; -1: the layer's input
  std::vector<int> consumers = {};  // operators, in order
  bool result = false;              // read after the layer: its output, gradients of inputs and weights
  bool split = false;               // a weight of which each GPU of tensor parallelism has a part; else each has the whole

  uint64_t words() const { return role == Role::kStatistic ? 0 : volume(dimensions); }
};

enum class Pass { kForward, kBackward, kUpdate };

enum class OperatorClass {
  kContraction,
  kNormalisation,  // reduces, then maps or stores the sums: softmax, layer norm, the gradient of a bias
  kElementwise,
  kAttention,  // as one kernel
  kCommunication,
  kOptimiser,
};

// What an operator computes.
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
  kAccumulate,  // gradients of a tensor that several operators have read
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
  kModulate,  // x (1 + scale) + shift, of a sequence
  kModulateGradient,
  kModulationGradient,  // of shift and scale
  kGate,
  kGateGradient,
  kGateWeightGradient,
  kAllReduce,
  kAllToAll,       // tokens of all heads for all tokens of some heads, or back
  kAllGather,      // all tokens, or the whole of a weight
  kReduceScatter,  // sums of the GPUs' parts, of some tokens each
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
  bool attention = false;  // part of multi-head attention, its projections' biases included
  bool split = false;      // each GPU of tensor parallelism computes a part; else each computes the whole
  Dimensions independent = {};
  Dimensions reduction = {};
  std::vector<int> inputs = {};
  std::vector<int> outputs = {};
  uint64_t flops = 0;
  Product product{};    // kProduct
  bool causal = false;  // kAttention and its gradient
  bool drops = false;   // the same: with dropout of the probabilities
};

// Operators in the order in which a framework launches them, and the tensors between them.
struct Graph {
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;

  const Tensor& tensor(int id) const { return tensors[static_cast<size_t>(id)]; }
  // The operators that write a tensor, or a part of it, or what it is a part of.
  std::vector<int> producers(int id) const;
  // The tensor in memory that it is, or is a part of.
  int root(int id) const;
  uint64_t words(const std::vector<int>& ids) const;
  uint64_t bytes(const std::vector<int>& ids) const;
};

const char* name_of(Work work);
const char* name_of(OperatorClass kind);
const char* name_of(Pass pass);
const char* name_of(Role role);
// Of all that an operator can compute.
std::vector<std::string> work_names();

}  // namespace warpfold::layer
