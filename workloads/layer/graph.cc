#include "workloads/layer/graph.h"

#include <array>

namespace warpfold::layer {

uint64_t volume(const Dimensions& dimensions) {
  uint64_t product = 1;
  for (const Dimension& each : dimensions) product *= each.size;
  return product;
}

int Graph::root(int id) const {
  while (tensor(id).parent >= 0) id = tensor(id).parent;
  return id;
}

std::vector<int> Graph::producers(int id) const {
  std::vector<int> all;
  const auto add = [&](int producer) {
    if (producer >= 0) all.push_back(producer);
  };
  add(tensor(id).producer);
  if (tensor(id).parent >= 0) {
    const std::vector<int> whole = producers(tensor(id).parent);
    all.insert(all.end(), whole.begin(), whole.end());
  } else if (tensor(id).producer < 0) {
    for (const Tensor& each : tensors) {
      if (each.parent == id) add(each.producer);
    }
  }
  return all;
}

uint64_t Graph::words(const std::vector<int>& ids) const {
  uint64_t sum = 0;
  for (const int id : ids) sum += tensor(id).words();
  return sum;
}

uint64_t Graph::bytes(const std::vector<int>& ids) const {
  uint64_t sum = 0;
  for (const int id : ids) sum += tensor(id).words() * tensor(id).bytes;
  return sum;
}

const char* name_of(Work work) {
  constexpr std::array kNames{"product",
                              "attention",
                              "attention_gradient",
                              "bias",
                              "bias_gradient",
                              "scale",
                              "dropout",
                              "dropout_gradient",
                              "residual",
                              "accumulate",
                              "relu",
                              "relu_gradient",
                              "gelu",
                              "gelu_gradient",
                              "silu",
                              "silu_gradient",
                              "multiply",
                              "multiply_gradient",
                              "softmax",
                              "softmax_gradient",
                              "layer_norm",
                              "layer_norm_gradient",
                              "layer_norm_weight_gradient",
                              "rms_norm",
                              "rms_norm_gradient",
                              "rms_norm_weight_gradient",
                              "rope",
                              "rope_gradient",
                              "modulate",
                              "modulate_gradient",
                              "modulation_gradient",
                              "gate",
                              "gate_gradient",
                              "gate_weight_gradient",
                              "all_reduce",
                              "all_to_all",
                              "all_gather",
                              "reduce_scatter",
                              "sgd",
                              "adam",
                              "transpose"};
  return kNames.at(static_cast<size_t>(work));
}

std::vector<std::string> work_names() {
  std::vector<std::string> all;
  for (int work = 0; work <= static_cast<int>(Work::kTranspose); ++work) all.emplace_back(name_of(static_cast<Work>(work)));
  return all;
}

const char* name_of(OperatorClass kind) {
  constexpr std::array kNames{"contraction", "normalisation", "elementwise", "attention", "communication", "optimiser"};
  return kNames.at(static_cast<size_t>(kind));
}

const char* name_of(Pass pass) {
  constexpr std::array kNames{"forward", "backward", "update"};
  return kNames.at(static_cast<size_t>(pass));
}

const char* name_of(Role role) {
  constexpr std::array kNames{"activation", "weight", "gradient", "mask", "statistic", "state"};
  return kNames.at(static_cast<size_t>(role));
}

}  // namespace warpfold::layer
