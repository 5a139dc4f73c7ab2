#include "tools/warpfold/figures/layer_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/report/number_text.h"

namespace warpfold::cli {

namespace {

using layer::FusedKernel;
using layer::Graph;
using layer::Pass;

constexpr double kMega = 1e6;
constexpr int kInput = -1;

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<FusedKernel>& kernels, const configs::LayerVersion& version)
      : graph_(graph), kernels_(kernels), version_(version) {
    for (int id = 0; id < static_cast<int>(graph_.tensors.size()); ++id) {
      const bool activation = graph_.tensor(id).role == layer::Role::kActivation || graph_.tensor(id).role == layer::Role::kMask;
      if (activation && read_backward(id)) kept_.insert(graph_.root(id));
    }
    for (const int root : kept_) saved_[kernel_of(root)].push_back(root);
  }

  Outcome<configs::LayerMemory> plan(double budget_mb) const {
    configs::LayerMemory memory;
    memory.set_budget_mb(budget_mb);
    std::vector<configs::LayerActivation> all;
    for (const auto& [kernel, roots] : saved_) all.push_back(activation_of(kernel, roots));
    std::ranges::stable_sort(all, {}, [](const auto& each) { return std::pair(each.kernel().empty(), each.us_per_mb()); });
    double kept = 0;
    for (const auto& each : all) kept += static_cast<double>(each.bytes()) / kMega;
    memory.set_all_mb(kept);
    std::set<int> again;
    for (configs::LayerActivation& each : all) {
      each.set_kept(kept <= budget_mb || each.kernel().empty());
      if (!each.kept()) {
        kept -= static_cast<double>(each.bytes()) / kMega;
        add_with_inputs(index_of(each.kernel()), again);
      }
      *memory.add_activations() = each;
    }
    if (kept > budget_mb)
      return user_error("--activations " + report::fixed(budget_mb, 1) + ": the layer's input alone takes " +
                        report::fixed(kept, 1) + " MB");
    memory.set_kept_mb(kept);
    memory.set_recompute_us(time_of(again));
    return memory;
  }

 private:
  bool read_backward(int id) const {
    return std::ranges::any_of(graph_.tensor(id).consumers,
                               [&](int reader) { return graph_.operators[static_cast<size_t>(reader)].pass == Pass::kBackward; });
  }

  int kernel_of(int root) const {
    const std::vector<int> producers = graph_.producers(root);
    if (producers.empty()) return kInput;
    for (int k = 0; k < static_cast<int>(kernels_.size()); ++k) {
      if (std::ranges::find(kernels_[static_cast<size_t>(k)].operators, producers.front()) !=
          kernels_[static_cast<size_t>(k)].operators.end())
        return k;
    }
    return kInput;
  }

  int index_of(const std::string& name) const {
    const auto found = std::ranges::find(version_.kernels(), name, [](const auto& each) { return each.name(); });
    return static_cast<int>(found - version_.kernels().begin());
  }

  // The kernel, and those whose results it reads and nothing keeps.
  void add_with_inputs(int kernel, std::set<int>& again) const {
    if (!again.insert(kernel).second) return;
    for (const int id : kernels_[static_cast<size_t>(kernel)].inputs) {
      const layer::Role role = graph_.tensor(id).role;
      if (role == layer::Role::kWeight || kept_.contains(graph_.root(id))) continue;
      const int producer = kernel_of(graph_.root(id));
      if (producer != kInput) add_with_inputs(producer, again);
    }
  }

  double time_of(const std::set<int>& kernels) const {
    double us = 0;
    for (const int kernel : kernels) us += version_.kernels(kernel).time_us();
    return us;
  }

  configs::LayerActivation activation_of(int kernel, const std::vector<int>& roots) const {
    configs::LayerActivation made;
    for (const int root : roots) {
      made.add_tensors(graph_.tensor(root).name);
      made.set_bytes(made.bytes() + graph_.tensor(root).words() * graph_.tensor(root).bytes);
    }
    if (kernel == kInput) return made;
    made.set_kernel(version_.kernels(kernel).name());
    made.set_kind(version_.kernels(kernel).kind());
    std::set<int> again;
    add_with_inputs(kernel, again);
    made.set_recompute_us(time_of(again));
    made.set_us_per_mb(made.recompute_us() / (static_cast<double>(made.bytes()) / kMega));
    return made;
  }

  const Graph& graph_;
  const std::vector<FusedKernel>& kernels_;
  const configs::LayerVersion& version_;
  std::set<int> kept_;                       // tensors in memory that the backward pass reads
  std::map<int, std::vector<int>> saved_{};  // of them those of a kernel
};

}  // namespace

Outcome<configs::LayerMemory> layer_memory(const Graph& graph, const std::vector<FusedKernel>& kernels,
                                           const configs::LayerVersion& version, double budget_mb) {
  return Planner(graph, kernels, version).plan(budget_mb);
}

}  // namespace warpfold::cli
