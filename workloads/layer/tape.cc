#include "workloads/layer/tape.h"

#include <algorithm>
#include <utility>

#include "workloads/layer/counts.h"
#include "workloads/layer/dimensions.h"

namespace warpfold::layer {

namespace {

Dimensions joined(const Dimensions& one, const Dimensions& other) {
  Dimensions all = one;
  all.insert(all.end(), other.begin(), other.end());
  return all;
}

}  // namespace

int Tape::add_tensor(Tensor tensor) {
  graph_.tensors.push_back(std::move(tensor));
  return static_cast<int>(graph_.tensors.size()) - 1;
}

int Tape::input(const std::string& name, const Dimensions& dimensions) {
  return add_tensor({.name = name, .role = Role::kActivation, .dimensions = dimensions});
}
int Tape::weight(const std::string& name, const Dimensions& dimensions) {
  return add_tensor({.name = name, .role = Role::kWeight, .dimensions = dimensions, .split = in_split_});
}
int Tape::part(int whole, const std::string& name, const Dimensions& dimensions) {
  return add_tensor({.name = name,
                     .role = graph_.tensor(whole).role,
                     .dimensions = dimensions,
                     .parent = whole,
                     .producer = graph_.tensor(whole).producer});
}
int Tape::append(int x, const std::string& name, const Dimensions& whole) {
  const int all = input(name, whole);
  graph_.tensors[static_cast<size_t>(x)].parent = all;
  return all;
}
int Tape::like(int x, const std::string& name, Role role) {
  return add_tensor({.name = name, .role = role, .dimensions = graph_.tensor(x).dimensions});
}

void Tape::add_into(Operator made, const std::vector<int>& outputs) {
  const int index = static_cast<int>(graph_.operators.size());
  for (const int id : made.inputs) graph_.tensors[static_cast<size_t>(id)].consumers.push_back(index);
  for (const int id : outputs) graph_.tensors[static_cast<size_t>(id)].producer = index;
  made.outputs = outputs;
  graph_.operators.push_back(std::move(made));
}

Tape::Made Tape::add(Operator made, const std::vector<Tensor>& outputs) {
  std::vector<int> ids;
  for (const Tensor& each : outputs) ids.push_back(add_tensor(each));
  add_into(std::move(made), ids);
  return {static_cast<int>(graph_.operators.size()) - 1, ids};
}

Operator Tape::over(const std::string& name, Work work, const std::vector<int>& inputs, const Dimensions& independent,
                    const Dimensions& reduction) const {
  Operator made{.name = name, .work = work, .kind = class_of(work), .pass = pass_, .attention = in_attention_, .split = in_split_};
  made.independent = independent;
  made.reduction = reduction;
  made.inputs = inputs;
  made.flops = flops_per_element(work) * volume(independent) * volume(reduction);
  return made;
}

Operator Tape::product_of(const std::string& name, const std::vector<int>& inputs, const Dimensions& independent,
                          const Dimensions& reduction, const Product& product) const {
  Operator made = over(name, Work::kProduct, inputs, independent, reduction);
  made.product = product;
  made.flops = 2 * product.m * product.n * product.k * product.count;
  return made;
}

int Tape::gradient_for(int tensor) {
  const Tensor& of = graph_.tensor(tensor);
  const bool in_part = of.parent >= 0 && std::ranges::find(apart_, tensor) == apart_.end();
  const std::string name = "d " + of.name;
  const Dimensions dimensions = of.dimensions;
  int made = 0;
  if (in_part) {
    const int parent = of.parent;
    if (!whole_.contains(parent)) whole_[parent] = like(parent, "d " + graph_.tensor(parent).name, Role::kGradient);
    made = add_tensor({.name = name, .role = Role::kGradient, .dimensions = dimensions, .parent = whole_[parent]});
  } else {
    made = like(tensor, name, Role::kGradient);
  }
  gradients_[tensor].push_back(made);
  return made;
}

int Tape::gradient_of(int tensor) {
  if (const auto whole = whole_.find(tensor); whole != whole_.end()) return whole->second;
  std::vector<int>& all = gradients_.at(tensor);
  while (all.size() > 1) {
    const std::vector<int> two{all[0], all[1]};
    all.erase(all.begin(), all.begin() + 2);
    const Made sum =
        add(over("add d " + graph_.tensor(tensor).name, Work::kAccumulate, two, graph_.tensor(tensor).dimensions),
            {{.name = "d " + graph_.tensor(tensor).name, .role = Role::kGradient, .dimensions = graph_.tensor(tensor).dimensions}});
    all.insert(all.begin(), sum.outputs.front());
  }
  return all.front();
}

void Tape::passes(int from, int to) { gradients_[to].push_back(gradient_of(from)); }

int Tape::linear(const std::string& name, int x, const Dimensions& kept, const Dimensions& summed, const Dimensions& made) {
  const int w = weight("weight of " + name, joined(summed, made));
  const uint64_t rows = volume(kept);
  const uint64_t in = volume(summed);
  const uint64_t out = volume(made);
  const Dimensions all = joined(kept, made);
  const int y = add(product_of(name, {x, w}, all, summed, {rows, out, in}), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    const int dy = gradient_of(y);
    const int dx = gradient_for(x);
    add_into(product_of(name + " dX", {dy, w}, joined(kept, summed), made, {rows, in, out}), {dx});
    const int dw = gradient_for(w);
    add_into(product_of(name + " dW", {dy, x}, joined(summed, made), kept, {in, out, rows}), {dw});
  });
  return y;
}

int Tape::bias(const std::string& name, int x, const Dimensions& of) {
  const int b = weight("weight of " + name, of);
  const Dimensions all = graph_.tensor(x).dimensions;
  const int y = add(over(name, Work::kBias, {x, b}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    passes(y, x);
    const int dy = gradient_of(y);
    const int db = gradient_for(b);
    add_into(over(name + " dW", Work::kBiasGradient, {dy}, of, without(all, of)), {db});
  });
  return y;
}

int Tape::dropout(const std::string& name, int x) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const Made made = add(over(name, Work::kDropout, {x}, all),
                        {{.name = name, .dimensions = all},
                         {.name = "mask of " + name, .role = Role::kMask, .dimensions = all, .bytes = kMaskBytes}});
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    const int dy = gradient_of(made.outputs[0]);
    const int dx = gradient_for(x);
    add_into(over(name + " dX", Work::kDropoutGradient, {dy, made.outputs[1]}, all), {dx});
  });
  return made.outputs.front();
}

int Tape::residual(const std::string& name, int x, int skipped) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const int y = add(over(name, Work::kResidual, {x, skipped}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this] {
    passes(y, x);
    passes(y, skipped);
  });
  return y;
}

int Tape::multiply(const std::string& name, int x, int other) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const int y = add(over(name, Work::kMultiply, {x, other}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this] {
    const int dy = gradient_of(y);
    const std::vector<int> made{gradient_for(x), gradient_for(other)};
    add_into(over(name + " dX", Work::kMultiplyGradient, {dy, x, other}, all), made);
  });
  return y;
}

int Tape::all_reduce(const std::string& name, int x) {
  const Dimensions all = graph_.tensor(x).dimensions;
  const int y = add(over(name, Work::kAllReduce, {x}, all), {{.name = name, .dimensions = all}}).outputs.front();
  on_the_way_back([=, this] { passes(y, x); });
  return y;
}

int Tape::shared(const std::string& name, int x) {
  const int same = part(x, graph_.tensor(x).name, graph_.tensor(x).dimensions);
  apart_.push_back(same);
  on_the_way_back([=, this] {
    const int dy = gradient_of(same);
    const int dx = gradient_for(x);
    add_into(over(name, Work::kAllReduce, {dy}, graph_.tensor(x).dimensions), {dx});
  });
  return same;
}

// Adds a transfer that redistributes elements; `back` is the transfer of their gradients.
int Tape::transfer(const std::string& name, Work work, Work back, int x, const Dimensions& made) {
  const int y = add(over(name, work, {x}, graph_.tensor(x).dimensions), {{.name = name, .dimensions = made}}).outputs.front();
  on_the_way_back([=, this, attention = in_attention_] {
    in_attention_ = attention;
    const int dy = gradient_of(y);
    const int dx = gradient_for(x);
    add_into(over(name + " dX", back, {dy}, made), {dx});
  });
  return y;
}

int Tape::exchange(const std::string& name, int x, const Dimensions& made) {
  return transfer(name, Work::kAllToAll, Work::kAllToAll, x, made);
}
int Tape::scatter(const std::string& name, int x, const Dimensions& made) {
  return transfer(name, Work::kReduceScatter, Work::kAllGather, x, made);
}
int Tape::gather(const std::string& name, int x, const Dimensions& made) {
  return transfer(name, Work::kAllGather, Work::kReduceScatter, x, made);
}

void Tape::backward(int output) {
  pass_ = Pass::kBackward;
  graph_.tensors[static_cast<size_t>(output)].result = true;
  gradients_[output] = {like(output, "d " + graph_.tensor(output).name, Role::kGradient)};
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) (*step)();
  in_attention_ = false;
  in_split_ = false;
  const auto tensors = static_cast<int>(graph_.tensors.size());
  for (int id = 0; id < tensors; ++id) {
    const bool of_layer = graph_.tensor(id).producer < 0 && gradients_.contains(id);
    if (of_layer) graph_.tensors[static_cast<size_t>(gradient_of(id))].result = true;
  }
}

void Tape::update(Work work) {
  pass_ = Pass::kUpdate;
  Dimensions all{{"w", 0}};
  for (const Tensor& each : graph_.tensors) {
    if (each.role == Role::kWeight) all.front().size += each.words();
  }
  const auto state = [&](const std::string& name) {
    return Tensor{.name = name, .role = Role::kState, .dimensions = all, .bytes = kStateBytes};
  };
  std::vector<Tensor> updated{state("weights")};
  if (work == Work::kAdam) updated.insert(updated.end(), {state("first moments"), state("second moments")});
  std::vector<int> inputs{add_tensor(state("gradients"))};
  for (const Tensor& each : updated) inputs.push_back(add_tensor(each));
  for (Tensor& each : updated) each.result = true;
  add(over(name_of(work), work, inputs, all), updated);
}

}  // namespace warpfold::layer
