#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Index of a tensor in Graph::tensors.
using TensorId = int;

// Records a forward pass operator by operator. backward() then adds the operators of the backward pass, from the last operator to
// the first, as frameworks do: a tensor that several operators read gets the sum of their gradients. Each method adds one operator,
// reads existing tensors and returns its result. Dimensions are written outermost first; elements of the last dimension are
// contiguous.
class Tape {
 public:
  TensorId input(const std::string& name, const Dimensions& dimensions);
  TensorId weight(const std::string& name, const Dimensions& dimensions);
  // Elements of `whole`, in its memory. No operator computes the part separately, and its gradient is written into the gradient of
  // `whole`.
  TensorId part(TensorId whole, const std::string& name, const Dimensions& dimensions);

  // A tensor `whole` that comes from outside, except for the elements of x, which their producer writes into it: keys of new
  // tokens after keys of earlier tokens. For a forward pass only.
  TensorId append(TensorId x, const std::string& name, const Dimensions& whole);

  // Says whether the following operators belong to multi-head attention.
  void in_attention(bool yes) { in_attention_ = yes; }
  // Says whether tensor parallelism splits the following operators and weights among the GPUs. Otherwise each GPU has them whole.
  void in_split(bool yes) { in_split_ = yes; }

  // (kept, summed) x weight (summed, made) -> (kept, made); x has the elements of kept and summed.
  TensorId linear(const std::string& name, TensorId x, const Dimensions& kept, const Dimensions& summed, const Dimensions& made);
  // x + weight (of) -> like x; `of` are the innermost dimensions of x.
  TensorId bias(const std::string& name, TensorId x, const Dimensions& of);
  // Returns a tensor like x, and records a mask.
  TensorId dropout(const std::string& name, TensorId x);
  // x + skipped -> like x; both have the same dimensions.
  TensorId residual(const std::string& name, TensorId x, TensorId skipped);
  // x * other, element by element -> like x; both have the same dimensions.
  TensorId multiply(const std::string& name, TensorId x, TensorId other);
  // Element by element: scale, rope, ReLU, GELU, SiLU. Returns a tensor like x. The gradients of all but scale and rope read x.
  TensorId map(const std::string& name, Work work, TensorId x);
  // (rows, keys) -> the same; `keys` is the innermost dimension.
  TensorId softmax(const std::string& name, TensorId scores, const Dimension& keys);
  // (rows, row) -> the same, and a statistic of (rows). `work` is kLayerNorm, with 2 weights per element of `row`, or kRmsNorm,
  // with 1 weight.
  TensorId norm(const std::string& name, Work work, TensorId x, const Dimension& row, bool weights);
  // queries (b j h p), keys (b k g p) -> made (b h j k), summed over p. `made` has exactly these four dimensions, in this order; h
  // is a multiple of g.
  TensorId scores(const std::string& name, TensorId queries, TensorId keys, const Dimensions& made, const Dimension& summed);
  // probabilities (b h j k), values (b k g p) -> made (b h j p), summed over k. `made` has exactly these four dimensions.
  TensorId mixed(const std::string& name, TensorId probabilities, TensorId values, const Dimensions& made, const Dimension& summed);
  struct AttentionMask {
    bool causal = false;
    bool dropout = false;
  };
  // queries (b j h p), keys and values (b k g p) -> a tensor like the queries, and a statistic of (b j h), in one kernel.
  TensorId attention(const std::string& name, TensorId queries, TensorId keys, TensorId values, const Dimension& key,
                     const AttentionMask& mask);
  // x (b j row), shift and scale (b row) -> like x: x (1 + scale) + shift.
  TensorId modulate(const std::string& name, TensorId x, TensorId shift, TensorId scale, const Dimension& row);
  // x (b j row), gate (b row) -> like x: x * gate.
  TensorId gate(const std::string& name, TensorId x, TensorId gate, const Dimension& row);
  // Tensor parallelism: `all_reduce` sums the GPUs' parts. `shared` is its mirror: it returns x itself with a separate gradient,
  // and the sum is in the backward pass.
  TensorId all_reduce(const std::string& name, TensorId x);
  TensorId shared(const std::string& name, TensorId x);
  // Sequence parallelism: `scatter` sums the GPUs' parts, and each GPU gets some tokens of `made`; `gather` is its mirror.
  TensorId scatter(const std::string& name, TensorId x, const Dimensions& made);
  TensorId gather(const std::string& name, TensorId x, const Dimensions& made);
  // Context parallelism: redistributes the same elements. `made` has other tokens and heads than x.
  TensorId exchange(const std::string& name, TensorId x, const Dimensions& made);

  // Adds the backward pass. To be called once, after the forward pass, whose result is `output`.
  void backward(TensorId output);
  // Adds a step on all weights. To be called after the backward pass.
  void update(Work work);
  const Dimensions& dimensions_of(TensorId tensor) const { return graph_.tensor(tensor).dimensions; }
  Graph take() { return std::move(graph_); }

 private:
  struct Made {
    int index;
    std::vector<int> outputs;
  };
  int add_tensor(Tensor tensor);
  int like(int x, const std::string& name, Role role = Role::kActivation);
  Made add(Operator made, const std::vector<Tensor>& outputs);
  // Adds an operator of the backward pass that writes into existing tensors.
  void add_into(Operator made, const std::vector<int>& outputs);
  Operator over(const std::string& name, Work work, const std::vector<int>& inputs, const Dimensions& independent,
                const Dimensions& reduction = {}) const;
  Operator product_of(const std::string& name, const std::vector<int>& inputs, const Dimensions& independent,
                      const Dimensions& reduction, const Product& product) const;

  int transfer(const std::string& name, Work work, Work back, int x, const Dimensions& made);

  int gradient_of(int tensor);    // sum of the gradients that its readers have produced
  int gradient_for(int tensor);   // new gradient, for one more reader
  void passes(int from, int to);  // makes the gradient of `from` a gradient of `to`
  void on_the_way_back(std::function<void()> step) {
    steps_.push_back([this, split = in_split_, step = std::move(step)] {
      in_split_ = split;
      step();
    });
  }

  Graph graph_;
  Pass pass_ = Pass::kForward;
  bool in_attention_ = false;
  bool in_split_ = false;
  std::vector<std::function<void()>> steps_;
  std::map<int, std::vector<int>> gradients_;  // gradients of a tensor, one per reader
  std::map<int, int> whole_;                   // gradients that are written part by part
  std::vector<int> apart_;                     // parts that are whole tensors with a separate gradient
};

}  // namespace warpfold::layer
