#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Of a tensor among Graph::tensors.
using TensorId = int;

// Records a forward pass operator by operator and then, from the last operator to the first, the operators of its backward pass, as
// frameworks do: a tensor that several operators read gets the sum of their gradients. A verb adds one operator, reads tensors that
// exist and returns its result; dimensions are written outermost first, elements of memory side by side last.
class Tape {
 public:
  TensorId input(const std::string& name, const Dimensions& dimensions);
  TensorId weight(const std::string& name, const Dimensions& dimensions);
  // Elements of `whole`, in its memory: no operator makes them apart, and their gradient is written into that of `whole`.
  TensorId part(TensorId whole, const std::string& name, const Dimensions& dimensions);

  // `whole` comes from outside but for the elements of x, which their producer writes into it: keys behind those of earlier tokens.
  // Of a forward pass alone.
  TensorId append(TensorId x, const std::string& name, const Dimensions& whole);

  // Operators from here on belong to multi-head attention, or not.
  void in_attention(bool yes) { in_attention_ = yes; }
  // Operators and weights from here on are split among the GPUs of tensor parallelism, or each GPU has them whole.
  void in_split(bool yes) { in_split_ = yes; }

  // (kept, summed) x weight (summed, made) -> (kept, made); x has the elements of kept and summed.
  TensorId linear(const std::string& name, TensorId x, const Dimensions& kept, const Dimensions& summed, const Dimensions& made);
  // x + weight (of) -> as x; `of` are the innermost dimensions of x.
  TensorId bias(const std::string& name, TensorId x, const Dimensions& of);
  // x -> as x, and a mask.
  TensorId dropout(const std::string& name, TensorId x);
  // x + skipped -> as x; both have the same dimensions.
  TensorId residual(const std::string& name, TensorId x, TensorId skipped);
  // x * other, element by element -> as x; both have the same dimensions.
  TensorId multiply(const std::string& name, TensorId x, TensorId other);
  // x -> as x, element by element: scale, rope, ReLU, GELU, SiLU; the gradients of all but the first two read x.
  TensorId map(const std::string& name, Work work, TensorId x);
  // (rows, keys) -> the same; `keys` is the innermost dimension.
  TensorId softmax(const std::string& name, TensorId scores, const Dimension& keys);
  // (rows, row) -> the same, and a statistic of (rows); `work` is kLayerNorm, with 2 weights an element of `row`, or kRmsNorm,
  // with 1.
  TensorId norm(const std::string& name, Work work, TensorId x, const Dimension& row, bool weights);
  // queries (b j h p), keys (b k g p) -> made (b h j k), summed over p: exactly four dimensions, in this order; h is a multiple of
  // g.
  TensorId scores(const std::string& name, TensorId queries, TensorId keys, const Dimensions& made, const Dimension& summed);
  // probabilities (b h j k), values (b k g p) -> made (b h j p), summed over k: likewise.
  TensorId mixed(const std::string& name, TensorId probabilities, TensorId values, const Dimensions& made, const Dimension& summed);
  struct AttentionMask {
    bool causal = false;
    bool dropout = false;
  };
  // queries (b j h p), keys and values (b k g p) -> as queries, and a statistic of (b j h): all in one kernel.
  TensorId attention(const std::string& name, TensorId queries, TensorId keys, TensorId values, const Dimension& key,
                     const AttentionMask& mask);
  // x (b j row), shift and scale (b row) -> as x: x (1 + scale) + shift.
  TensorId modulate(const std::string& name, TensorId x, TensorId shift, TensorId scale, const Dimension& row);
  // x (b j row), gate (b row) -> as x: x * gate.
  TensorId gate(const std::string& name, TensorId x, TensorId gate, const Dimension& row);
  // Tensor parallelism: sums of the GPUs' parts; and its mirror, of which the backward pass has the sum. Both -> as x; that of
  // `shared` is x itself, with a gradient of its own.
  TensorId all_reduce(const std::string& name, TensorId x);
  TensorId shared(const std::string& name, TensorId x);
  // Sequence parallelism: sums of the GPUs' parts, of some tokens each; and its mirror. x -> made, which has other tokens.
  TensorId scatter(const std::string& name, TensorId x, const Dimensions& made);
  TensorId gather(const std::string& name, TensorId x, const Dimensions& made);
  // Context parallelism: the same elements, shared otherwise. x -> made, which has other tokens and heads.
  TensorId exchange(const std::string& name, TensorId x, const Dimensions& made);

  // Once, behind the forward pass, whose result is `output`.
  void backward(TensorId output);
  // A step on all weights, behind the backward pass.
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
  // An operator of the backward pass that writes into tensors that exist.
  void add_into(Operator made, const std::vector<int>& outputs);
  Operator over(const std::string& name, Work work, const std::vector<int>& inputs, const Dimensions& independent,
                const Dimensions& reduction = {}) const;
  Operator product_of(const std::string& name, const std::vector<int>& inputs, const Dimensions& independent,
                      const Dimensions& reduction, const Product& product) const;

  int transfer(const std::string& name, Work work, Work back, int x, const Dimensions& made);

  int gradient_of(int tensor);    // what its readers have left, added up
  int gradient_for(int tensor);   // a new one, of one more reader
  void passes(int from, int to);  // the gradient of a result is that of an input
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
  std::map<int, std::vector<int>> gradients_;  // of a tensor, one of each reader
  std::map<int, int> whole_;                   // gradients that are written part by part
  std::vector<int> apart_;                     // parts that are whole tensors with gradients of their own
};

}  // namespace warpfold::layer
