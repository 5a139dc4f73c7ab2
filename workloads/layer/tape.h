#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "workloads/layer/graph.h"

namespace warpfold::layer {

// Records a forward pass operator by operator and then, from the last operator to the first, the operators of its backward pass, as
// frameworks do: a tensor that several operators read gets the sum of their gradients.
class Tape {
 public:
  int input(const std::string& name, const Dimensions& dimensions);
  int weight(const std::string& name, const Dimensions& dimensions);
  int part(int whole, const std::string& name, const Dimensions& dimensions);

  // Operators from here on belong to multi-head attention, or not.
  void in_attention(bool yes) { in_attention_ = yes; }

  // x times a weight: `kept` are the dimensions of x that the result has too.
  int linear(const std::string& name, int x, const Dimensions& kept, const Dimensions& summed, const Dimensions& made);
  int bias(const std::string& name, int x, const Dimensions& of);
  int dropout(const std::string& name, int x);
  int residual(const std::string& name, int x, int skipped);
  int multiply(const std::string& name, int x, int other);
  // One tensor to one, whose gradient needs the input: scale, rope (which need nothing), ReLU, GELU, SiLU.
  int map(const std::string& name, Work work, int x);
  int softmax(const std::string& name, int scores, const Dimension& keys);
  int norm(const std::string& name, Work work, int x, const Dimension& row, bool weights);
  int scores(const std::string& name, int queries, int keys, const Dimensions& made, const Dimension& summed);
  int mixed(const std::string& name, int probabilities, int values, const Dimensions& made, const Dimension& summed);
  struct AttentionMask {
    bool causal = false;
    bool dropout = false;
  };
  int attention(const std::string& name, int queries, int keys, int values, const Dimension& key, const AttentionMask& mask);
  int modulate(const std::string& name, int x, int shift, int scale, const Dimension& row);
  int gate(const std::string& name, int x, int gate, const Dimension& row);
  // Tensor parallelism: sums of the GPUs' parts; and its mirror, of which the backward pass has the sum.
  int all_reduce(const std::string& name, int x);
  int shared(const std::string& name, int x);
  // Sequence parallelism: sums of the GPUs' parts, of some tokens each; and its mirror.
  int scatter(const std::string& name, int x, const Dimensions& made);
  int gather(const std::string& name, int x, const Dimensions& made);
  // Context parallelism: the same elements, shared otherwise.
  int exchange(const std::string& name, int x, const Dimensions& made);

  void backward(int output);
  // A step on all weights.
  void update(Work work);
  const Dimensions& dimensions_of(int tensor) const { return graph_.tensor(tensor).dimensions; }
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
  void on_the_way_back(std::function<void()> step) { steps_.push_back(std::move(step)); }

  Graph graph_;
  Pass pass_ = Pass::kForward;
  bool in_attention_ = false;
  std::vector<std::function<void()>> steps_;
  std::map<int, std::vector<int>> gradients_;  // of a tensor, one of each reader
  std::map<int, int> whole_;                   // gradients that are written part by part
  std::vector<int> apart_;                     // parts that are whole tensors with gradients of their own
};

}  // namespace warpfold::layer
