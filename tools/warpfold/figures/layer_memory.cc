#include "tools/warpfold/figures/layer_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "tools/report/number_text.h"
#include "workloads/layer/training.h"

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

  // Keeps all activations, then gives up as many as the budget requires. Transfers behind the passes come first, then kernels that
  // run again, and last the layer's input.
  Outcome<configs::LayerMemory> plan(double budget_mb, double host_gb_per_s) const {
    Plan plan{.budget_mb = budget_mb, .host_gb_per_s = host_gb_per_s, .activations = all_kept()};
    plan.memory.set_budget_mb(budget_mb);
    for (const configs::LayerActivation& each : plan.activations) plan.kept_mb += mb_of(each);
    plan.memory.set_all_mb(plan.kept_mb);
    if (host_gb_per_s > 0) offload_hidden(plan);
    const std::set<int> again = recompute(plan);
    if (host_gb_per_s > 0) offload_the_rest(plan);
    if (plan.kept_mb > budget_mb)
      return user_error("--activations " + report::fixed(budget_mb, 1) + ": the layer's input alone takes " +
                        report::fixed(plan.kept_mb, 1) + " MB");
    return memory_of(std::move(plan), again);
  }

 private:
  struct Plan {
    double budget_mb = 0;
    double host_gb_per_s = 0;
    double kept_mb = 0;
    std::vector<configs::LayerActivation> activations{};  // by time per byte to compute again, least first; the layer's input last
    configs::LayerMemory memory{};
  };

  static double mb_of(const configs::LayerActivation& each) { return static_cast<double>(each.bytes()) / kMega; }

  std::vector<configs::LayerActivation> all_kept() const {
    std::vector<configs::LayerActivation> all;
    for (const auto& [kernel, roots] : saved_) {
      all.push_back(activation_of(kernel, roots));
      all.back().set_kept(true);
    }
    std::ranges::stable_sort(all, {}, [](const auto& each) { return std::pair(each.kernel().empty(), each.us_per_mb()); });
    return all;
  }

  double time_of_pass(Pass pass) const {
    double us = 0;
    for (const configs::LayerKernel& each : version_.kernels()) us += each.pass() == layer::name_of(pass) ? each.time_us() : 0;
    return us;
  }

  static void offload(configs::LayerActivation& each, Plan& plan) {
    each.set_kept(false);
    each.set_offloaded(true);
    plan.kept_mb -= mb_of(each);
    plan.memory.set_offloaded_mb(plan.memory.offloaded_mb() + mb_of(each));
  }

  // Offloads as much as the link moves during a pass: the forward pass sends, the backward pass fetches. The activations that take
  // longest to compute again go first, and only as many as the budget requires.
  void offload_hidden(Plan& plan) const {
    configs::LayerMemory& memory = plan.memory;
    memory.set_host_gb_per_s(plan.host_gb_per_s);
    memory.set_hidden_mb(std::min(time_of_pass(Pass::kForward), time_of_pass(Pass::kBackward)) * plan.host_gb_per_s * 1e3 / kMega);
    for (auto each = plan.activations.rbegin(); each != plan.activations.rend(); ++each) {
      if (plan.kept_mb <= plan.budget_mb || memory.offloaded_mb() + mb_of(*each) > memory.hidden_mb()) continue;
      offload(*each, plan);
    }
  }

  // Offloads the layer's input, which no kernel can compute again.
  static void offload_the_rest(Plan& plan) {
    for (configs::LayerActivation& each : plan.activations) {
      if (plan.kept_mb > plan.budget_mb && each.kept()) offload(each, plan);
    }
  }

  // Drops activations and returns the kernels that run again to restore them.
  std::set<int> recompute(Plan& plan) const {
    for (configs::LayerActivation& each : plan.activations) {
      if (plan.kept_mb <= plan.budget_mb || !each.kept() || each.kernel().empty()) continue;
      each.set_kept(false);
      plan.kept_mb -= mb_of(each);
    }
    // The last dropped activation may free more than was missing. The room left takes back the activations that cost most per byte.
    std::set<int> again;
    for (auto each = plan.activations.rbegin(); each != plan.activations.rend(); ++each) {
      if (each->kept() || each->offloaded()) continue;
      if (plan.kept_mb + mb_of(*each) <= plan.budget_mb) {
        each->set_kept(true);
        plan.kept_mb += mb_of(*each);
      } else {
        add_with_inputs(static_cast<int>(each->kernel_index()), again);
      }
    }
    return again;
  }

  configs::LayerMemory memory_of(Plan plan, const std::set<int>& again) const {
    configs::LayerMemory& memory = plan.memory;
    memory.set_kept_mb(plan.kept_mb);
    memory.set_recompute_us(time_of(again));
    const double beyond = std::max(0.0, memory.offloaded_mb() - memory.hidden_mb());
    if (plan.host_gb_per_s > 0) memory.set_exposed_us(2 * beyond * kMega / (plan.host_gb_per_s * 1e3));
    for (configs::LayerActivation& each : plan.activations) *memory.add_activations() = std::move(each);
    for (int k = 0; k < version_.kernels_size(); ++k) {
      if (version_.kernels(k).pass() == layer::name_of(Pass::kForward) && !saved_.contains(k))
        memory.add_gain_nothing(version_.kernels(k).name());
    }
    return std::move(plan.memory);
  }

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

  // Adds the kernel, and the producers of its inputs that no longer are in memory.
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
    made.set_kernel_index(static_cast<uint32_t>(kernel));
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
  std::map<int, std::vector<int>> saved_{};  // the same tensors, by the kernel that stores them
};

// Bytes per parameter in mixed precision. Weights and gradients have 16 bits; Adam keeps an FP32 weight and two moments, SGD the
// FP32 weight (Rajbhandari et al., arXiv 1910.02054, section 3.1: K = 12).
constexpr double kWordBytes = 2;
double state_bytes(configs::Optimiser optimiser) { return optimiser == configs::ADAM ? 12 : optimiser == configs::SGD ? 4 : 0; }

// Adds the states of the whole model on one GPU. The GPU shares the layers' split weights with tensor_parallel - 1 other GPUs, and
// holds all other weights whole.
void add_states(const configs::TransformerModel& model, const Graph& graph, configs::LayerMemory& memory) {
  const layer::Parameters all = layer::parameters_of(model, graph);
  const auto parameters = static_cast<double>(all.on_gpu + all.embedding + all.output);
  const auto shared = [&](double bytes, uint64_t stage) {
    return parameters * bytes / (model.zero_stage() >= stage ? static_cast<double>(model.data_parallel()) : 1) / 1e9;
  };
  memory.set_weights_gb(shared(kWordBytes, 3));
  memory.set_gradients_gb(shared(kWordBytes, 2));
  memory.set_states_gb(shared(state_bytes(model.optimiser()), 1));
}

}  // namespace

Outcome<configs::LayerMemory> layer_memory(const configs::TransformerModel& model, const Graph& graph,
                                           const std::vector<FusedKernel>& kernels, const configs::LayerVersion& version,
                                           const MemoryPlan& plan) {
  const Planner planner(graph, kernels, version);
  if (plan.memory_gb == 0) return planner.plan(plan.activations_mb, plan.host_gb_per_s);
  configs::LayerMemory states;
  add_states(model, graph, states);
  const double left = plan.memory_gb - states.weights_gb() - states.gradients_gb() - states.states_gb();
  if (left <= 0)
    return user_error("--memory " + report::fixed(plan.memory_gb, 1) + " leaves nothing to activations: weights take " +
                      report::fixed(states.weights_gb(), 1) + " GB, gradients " + report::fixed(states.gradients_gb(), 1) +
                      " GB, the optimiser's states " + report::fixed(states.states_gb(), 1) +
                      " GB; tensor_parallel and zero_stage share them among GPUs");
  auto memory = planner.plan(left * 1e3 / static_cast<double>(model.layers()), plan.host_gb_per_s);
  if (!memory) return memory;
  memory->set_memory_gb(plan.memory_gb);
  memory->set_weights_gb(states.weights_gb());
  memory->set_gradients_gb(states.gradients_gb());
  memory->set_states_gb(states.states_gb());
  return memory;
}

}  // namespace warpfold::cli
