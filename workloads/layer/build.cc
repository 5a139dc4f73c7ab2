#include "workloads/layer/build.h"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "workloads/layer/listed.h"
#include "workloads/layer/tape.h"

namespace warpfold::layer {

namespace {

using configs::TransformerModel;

class Builder {
 public:
  Builder(const TransformerModel& model, const Parts& parts)
      : model_(model),
        parts_(parts),
        batch_{"b", model.batch()},
        token_{"j", model.sequence() / model.context_parallel()},
        key_{"k", model.past() + model.sequence()},
        hidden_{"i", model.hidden()},
        head_{"h", model.heads() / model.tensor_parallel()},
        kv_head_{"g", model.kv_heads() / model.tensor_parallel()},
        element_{"p", model.head_dim()},
        inner_{"u", model.feed_forward() / model.tensor_parallel()},
        rows_{batch_, token_} {
    if (head_.size == kv_head_.size) kv_head_.name = head_.name;
  }

  Graph build() {
    const int x = tape_.input("input", {batch_, outer_token(), hidden_});
    const int output = model_.placement() == configs::BEHIND ? behind(x) : before(x);
    if (parts_.backward) tape_.backward(output);
    if (parts_.backward && parts_.update && model_.optimiser() != configs::NO_OPTIMISER)
      tape_.update(model_.optimiser() == configs::SGD ? Work::kSgd : Work::kAdam);
    return tape_.take();
  }

 private:
  struct Heads {
    int queries;
    int keys;
    int values;
  };

  int behind(int x) {
    const int attended = norm("layernorm", tape_.residual("residual", attention_branch(x), x));
    return norm("layernorm 2", tape_.residual("residual 2", feed_forward_branch(attended), attended));
  }

  int before(int x) {
    const bool adaptive = model_.norm() == configs::ADAPTIVE_LAYER_NORM;
    if (adaptive) modulation();
    int first = norm("norm 1", x);
    if (adaptive) first = tape_.modulate("modulate 1", first, shifts_[0], shifts_[1], hidden_);
    int attended = attention_branch(first);
    if (adaptive) attended = tape_.gate("gate 1", attended, shifts_[2], hidden_);
    attended = tape_.residual("residual 1", attended, x);
    int second = norm("norm 2", attended);
    if (adaptive) second = tape_.modulate("modulate 2", second, shifts_[3], shifts_[4], hidden_);
    int fed = feed_forward_branch(second);
    if (adaptive) fed = tape_.gate("gate 2", fed, shifts_[5], hidden_);
    return tape_.residual("residual 2", fed, attended);
  }

  // Six vectors per sequence, from its conditioning vector (arXiv 2212.09748, figure 3).
  void modulation() {
    const int condition = tape_.map("condition silu", Work::kSilu, tape_.input("condition", {batch_, hidden_}));
    const Dimensions six{{"6", 6}, hidden_};
    int made = tape_.linear("modulation", condition, {batch_}, {{"c", model_.hidden()}}, six);
    if (model_.bias()) made = tape_.bias("modulation bias", made, six);
    const char* const names[]{"shift 1", "scale 1", "gate 1", "shift 2", "scale 2", "gate 2"};
    for (const char* name : names) shifts_.push_back(tape_.part(made, name, {batch_, hidden_}));
  }

  int norm(const std::string& name, int x) {
    const Work work = model_.norm() == configs::RMS_NORM ? Work::kRmsNorm : Work::kLayerNorm;
    return tape_.norm(name, work, x, hidden_, model_.norm() != configs::ADAPTIVE_LAYER_NORM);
  }

  bool parallel() const { return model_.tensor_parallel() > 1; }
  // Tokens per GPU in norms, residual connections and dropout.
  Dimension outer_token() const { return {token_.name, token_.size / (model_.sequence_parallel() ? model_.tensor_parallel() : 1)}; }
  // Transfers before and after the products that the GPUs divide.
  int opened(const std::string& branch, int x) {
    if (parallel())
      x = model_.sequence_parallel() ? tape_.gather("all-gather " + branch, x, with_rows({hidden_}))
                                     : tape_.shared("all-reduce d " + branch, x);
    tape_.in_split(true);
    return x;
  }
  int closed(const std::string& branch, int x) {
    tape_.in_split(false);
    if (!parallel()) return x;
    return model_.sequence_parallel() ? tape_.scatter("reduce-scatter " + branch, x, {batch_, outer_token(), hidden_})
                                      : tape_.all_reduce("all-reduce " + branch, x);
  }
  Dimensions with_rows(const Dimensions& rest) const {
    Dimensions all = rows_;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }
  // Dimensions of a tensor of heads inside attention: all tokens, but only some of the heads.
  Dimensions of_all_tokens(const Dimension& heads) const {
    return {batch_, {token_.name, model_.sequence()}, {heads.name, heads.size / model_.context_parallel()}, element_};
  }
  int linear(const std::string& name, const std::string& bias, int x, const Dimensions& summed, const Dimensions& made) {
    const int y = tape_.linear(name, x, rows_, summed, made);
    return model_.bias() ? tape_.bias(bias, y, made) : y;
  }

  Heads project(int x) {
    if (!parts_.stacked) {
      const int q = linear("Q", "Q bias", x, {hidden_}, {head_, element_});
      const int k = linear("K", "K bias", x, {hidden_}, {kv_head_, element_});
      const int v = linear("V", "V bias", x, {hidden_}, {kv_head_, element_});
      return {q, k, v};
    }
    const Dimension all_heads{"qh", head_.size + 2 * kv_head_.size};
    const int all = linear("Q K V", "input bias", x, {hidden_}, {all_heads, element_});
    return {tape_.part(all, "Q", with_rows({head_, element_})), tape_.part(all, "K", with_rows({kv_head_, element_})),
            tape_.part(all, "V", with_rows({kv_head_, element_}))};
  }

  int attention_branch(int x) {
    tape_.in_attention(true);
    Heads heads = project(opened("attention", x));
    if (model_.rotary()) {
      heads.queries = tape_.map("rope Q", Work::kRope, heads.queries);
      heads.keys = tape_.map("rope K", Work::kRope, heads.keys);
    }
    const bool shares_tokens = model_.context_parallel() > 1;
    if (shares_tokens) {
      heads.queries = tape_.exchange("all-to-all Q", heads.queries, of_all_tokens(head_));
      heads.keys = tape_.exchange("all-to-all K", heads.keys, of_all_tokens(kv_head_));
      heads.values = tape_.exchange("all-to-all V", heads.values, of_all_tokens(kv_head_));
    }
    if (model_.past() > 0) {
      const Dimension heads_here{kv_head_.name, kv_head_.size / model_.context_parallel()};
      heads.keys = tape_.append(heads.keys, "keys", {batch_, key_, heads_here, element_});
      heads.values = tape_.append(heads.values, "values", {batch_, key_, heads_here, element_});
    }
    int mixed = model_.attention() == configs::FLASH ? flash(heads) : materialised(heads);
    if (shares_tokens) mixed = tape_.exchange("all-to-all attention", mixed, with_rows({head_, element_}));
    int y = closed("attention", tape_.linear("out", mixed, rows_, {head_, element_}, {hidden_}));
    if (model_.bias()) y = tape_.bias("output bias", y, {hidden_});
    tape_.in_attention(false);
    return model_.dropout() ? tape_.dropout("dropout", y) : y;
  }

  int flash(const Heads& heads) {
    return tape_.attention("attention", heads.queries, heads.keys, heads.values, key_, {model_.causal(), model_.dropout()});
  }

  Dimensions scores_of(const Heads& heads, const Dimension& last) const {
    const Dimensions& queries = tape_.dimensions_of(heads.queries);
    return {queries[0], queries[2], queries[1], last};
  }

  // A separate kernel scales the queries, as in torch.nn.functional.multi_head_attention_forward.
  int materialised(const Heads& heads) {
    const int queries = tape_.map("scale Q", Work::kScale, heads.queries);
    const int scores = tape_.scores("QK^T", queries, heads.keys, scores_of(heads, key_), element_);
    int probabilities = tape_.softmax("softmax", scores, key_);
    if (model_.dropout()) probabilities = tape_.dropout("attention dropout", probabilities);
    return tape_.mixed("gamma", probabilities, heads.values, scores_of(heads, element_), key_);
  }

  Work activation() const {
    return model_.activation() == configs::GELU ? Work::kGelu : model_.activation() == configs::SILU ? Work::kSilu : Work::kRelu;
  }
  std::string activation_name() const {
    return model_.activation() == configs::GELU ? "gelu" : model_.activation() == configs::SILU ? "silu" : "relu";
  }

  int feed_forward_branch(int x) {
    x = opened("feed-forward", x);
    int y = model_.gated() ? gated(x)
                           : tape_.map(activation_name(), activation(), linear("linear 1", "bias 1", x, {hidden_}, {inner_}));
    if (model_.feed_forward_dropout()) y = tape_.dropout("dropout 1", y);
    y = closed("feed-forward", tape_.linear("linear 2", y, rows_, {inner_}, {hidden_}));
    if (model_.bias()) y = tape_.bias("bias 2", y, {hidden_});
    return model_.dropout() ? tape_.dropout("dropout 2", y) : y;
  }

  int gated(int x) {
    if (!parts_.stacked) {
      const int opened = linear("gate", "gate bias", x, {hidden_}, {inner_});
      const int widened = linear("up", "up bias", x, {hidden_}, {inner_});
      return tape_.multiply("multiply", tape_.map(activation_name(), activation(), opened), widened);
    }
    const Dimensions both{{"2", 2}, inner_};
    const int all = linear("gate up", "gate up bias", x, {hidden_}, both);
    const int opened = tape_.part(all, "gate", with_rows({inner_}));
    const int up = tape_.part(all, "up", with_rows({inner_}));
    return tape_.multiply("multiply", tape_.map(activation_name(), activation(), opened), up);
  }

  const TransformerModel& model_;
  Parts parts_;
  Dimension batch_, token_, key_, hidden_, head_, kv_head_, element_, inner_;
  Dimensions rows_;
  Tape tape_;
  std::vector<int> shifts_;
};

// Keeps the operators of the wanted passes. Each pass reads results of earlier passes.
Graph listed_parts(Graph graph, const Parts& parts) {
  const auto wanted = [&](const Operator& each) {
    return each.pass == Pass::kForward || (parts.backward && (each.pass == Pass::kBackward || parts.update));
  };
  std::vector<int> place;  // new index of each operator; -1: removed
  int next = 0;
  for (const Operator& each : graph.operators) place.push_back(wanted(each) ? next++ : -1);
  std::erase_if(graph.operators, [&](const Operator& each) { return !wanted(each); });
  for (Tensor& each : graph.tensors) {
    if (each.producer >= 0) each.producer = place[static_cast<size_t>(each.producer)];
    for (int& reader : each.consumers) reader = place[static_cast<size_t>(reader)];
    std::erase(each.consumers, -1);
    each.result = each.result || (each.producer >= 0 && each.consumers.empty());
  }
  return graph;
}

}  // namespace

Graph build_layer(const configs::TransformerModel& model, const Parts& parts) {
  if (model.operator__size() == 0) return Builder(model, parts).build();
  auto listed = listed_layer(model);
  if (!listed) throw std::logic_error("a list of operators that was not checked: " + listed.error().message);
  return listed_parts(std::move(*listed), parts);
}

}  // namespace warpfold::layer
