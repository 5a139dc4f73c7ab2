// Tape operators: maps, reductions, attention, and modulation.
#include <algorithm>
#include <utility>

#include "workloads/layer/counts.h"
#include "workloads/layer/dimensions.h"
#include "workloads/layer/tape.h"

namespace warpfold::layer {

namespace {

Work gradient_of_map(Work work) {
  switch (work) {
    case Work::kRelu:
      return Work::kReluGradient;
    case Work::kGelu:
      return Work::kGeluGradient;
    case Work::kSilu:
      return Work::kSiluGradient;
    case Work::kRope:
      return Work::kRopeGradient;
    default:
      return work;
  }
}

bool needs_input(Work work) { return work != Work::kScale && work != Work::kRope; }

}  // namespace

int Tape::map(const std::string& name, Work work, int x) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const int y = add(over(name, work, {x}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    std::vector<int> inputs{gradient_of(y)};
    if (needs_input(work)) inputs.push_back(x);
    const int dx = gradient_for(x);
    add_into(over(name + " dX", gradient_of_map(work), inputs, all), {dx});
  });
  return y;
}

int Tape::softmax(const std::string& name, int scores, const Dimension& keys) {
  const Dimensions all = graph_.tensor(scores).dimensions;
  const Dimensions rows = without(all, {keys});
  const int y = add(over(name, Work::kSoftmax, {scores}, rows, {keys}), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    const int dy = gradient_of(y);
    const int dx = gradient_for(scores);
    add_into(over(name + " dX", Work::kSoftmaxGradient, {dy, y}, rows, {keys}), {dx});
  });
  return y;
}

int Tape::norm(const std::string& name, Work work, int x, const Dimension& row, bool weights) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const Dimensions rows = without(all, {row});
  const bool root_mean_square = work == Work::kRmsNorm;
  std::vector<int> inputs{x};
  const int w = weights ? weight("weight of " + name, root_mean_square ? Dimensions{row} : Dimensions{{"2", 2}, row}) : -1;
  if (weights) inputs.push_back(w);
  const Made made =
      add(over(name, work, inputs, rows, {row}),
          {{.name = name, .dimensions = all},
           {.name = (root_mean_square ? "rstd of " : "mean and rstd of ") + name, .role = Role::kStatistic, .dimensions = rows}});
  const int statistic = made.outputs[1];
  on_the_way_back([=, this] {
    in_attention_ = false;
    const int dy = gradient_of(made.outputs[0]);
    if (weights) {
      const int dw = gradient_for(w);
      const Work of_weights = root_mean_square ? Work::kRmsNormWeightGradient : Work::kLayerNormWeightGradient;
      add_into(over(name + " dW", of_weights, {dy, x, statistic}, {row}, rows), {dw});
    }
    std::vector<int> read{dy, x, statistic};
    if (weights) read.push_back(w);
    const int dx = gradient_for(x);
    add_into(over(name + " dX", root_mean_square ? Work::kRmsNormGradient : Work::kLayerNormGradient, read, rows, {row}), {dx});
  });
  return made.outputs.front();
}

// (b h j k), summed over p. Heads that share keys read the same keys.
int Tape::scores(const std::string& name, int queries, int keys, const Dimensions& made, const Dimension& summed) {
  const uint64_t heads = made[0].size * made[1].size;
  const Dimension rows = made[2];
  const Dimension columns = made[3];
  const int y = add(product_of(name, {queries, keys}, made, {summed}, {rows.size, columns.size, summed.size, heads}),
                    {{.name = name, .dimensions = made}})
                    .outputs.front();
  on_the_way_back([=, this] {
    in_attention_ = true;
    const int dy = gradient_of(y);
    const int dq = gradient_for(queries);
    add_into(product_of(name + " dX1", {dy, keys}, {made[0], made[1], rows, summed}, {columns},
                        {rows.size, summed.size, columns.size, heads}),
             {dq});
    const int dk = gradient_for(keys);
    add_into(product_of(name + " dX2", {dy, queries}, {made[0], made[1], columns, summed}, {rows},
                        {columns.size, summed.size, rows.size, heads}),
             {dk});
  });
  return y;
}

// (b h j p), summed over k.
int Tape::mixed(const std::string& name, int probabilities, int values, const Dimensions& made, const Dimension& summed) {
  const uint64_t heads = made[0].size * made[1].size;
  const Dimension rows = made[2];
  const Dimension columns = made[3];
  const int y = add(product_of(name, {probabilities, values}, made, {summed}, {rows.size, columns.size, summed.size, heads}),
                    {{.name = name, .dimensions = made}})
                    .outputs.front();
  on_the_way_back([=, this] {
    in_attention_ = true;
    const int dy = gradient_of(y);
    const int dp = gradient_for(probabilities);
    add_into(product_of(name + " dX1", {dy, values}, {made[0], made[1], rows, summed}, {columns},
                        {rows.size, summed.size, columns.size, heads}),
             {dp});
    const int dv = gradient_for(values);
    add_into(product_of(name + " dX2", {dy, probabilities}, {made[0], made[1], summed, columns}, {rows},
                        {summed.size, columns.size, rows.size, heads}),
             {dv});
  });
  return y;
}

int Tape::attention(const std::string& name, int queries, int keys, int values, const Dimension& key, const AttentionMask& mask) {
  const Dimensions all = graph_.tensor(queries).dimensions;
  Operator forward = over(name, Work::kAttention, {queries, keys, values}, all, {key});
  // Two products of every query with every key. A causal mask leaves all keys before the queries' own tokens, and half of the keys
  // of these tokens.
  const uint64_t masked = mask.causal ? std::min(all[1].size, key.size) : 0;
  const uint64_t flops = 2 * volume(all) * (2 * key.size - masked);
  forward.flops = flops;
  forward.causal = mask.causal;
  forward.drops = mask.dropout;
  Dimensions rows = all;
  rows.pop_back();
  const Made made = add(std::move(forward), {{.name = name, .dimensions = all},
                                             {.name = "log-sum-exp of " + name, .role = Role::kStatistic, .dimensions = rows}});
  on_the_way_back([=, this] {
    in_attention_ = true;
    const int dy = gradient_of(made.outputs[0]);
    const std::vector<int> outputs{gradient_for(queries), gradient_for(keys), gradient_for(values)};
    Operator backward =
        over(name + " dX", Work::kAttentionGradient, {dy, queries, keys, values, made.outputs[0], made.outputs[1]}, all, {key});
    // Five products, including the recomputed scores, against two in the forward pass.
    backward.flops = flops / 2 * 5;
    backward.causal = mask.causal;
    backward.drops = mask.dropout;
    add_into(std::move(backward), outputs);
  });
  return made.outputs.front();
}

int Tape::modulate(const std::string& name, int x, int shift, int scale, const Dimension& row) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const Dimensions of_sequence{all.front(), row};
  const int y = add(over(name, Work::kModulate, {x, shift, scale}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this] {
    in_attention_ = false;
    const int dy = gradient_of(y);
    const std::vector<int> made{gradient_for(shift), gradient_for(scale)};
    add_into(over(name + " dW", Work::kModulationGradient, {dy, x}, of_sequence, without(all, of_sequence)), made);
    const int dx = gradient_for(x);
    add_into(over(name + " dX", Work::kModulateGradient, {dy, scale}, all), {dx});
  });
  return y;
}

int Tape::gate(const std::string& name, int x, int gate, const Dimension& row) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const Dimensions of_sequence{all.front(), row};
  const int y = add(over(name, Work::kGate, {x, gate}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this] {
    in_attention_ = false;
    const int dy = gradient_of(y);
    const int dg = gradient_for(gate);
    add_into(over(name + " dW", Work::kGateWeightGradient, {dy, x}, of_sequence, without(all, of_sequence)), {dg});
    const int dx = gradient_for(x);
    add_into(over(name + " dX", Work::kGateGradient, {dy, gate}, all), {dx});
  });
  return y;
}

}  // namespace warpfold::layer
