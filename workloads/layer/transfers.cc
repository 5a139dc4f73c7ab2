#include "workloads/layer/transfers.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

namespace warpfold::layer {

namespace {

class Finder {
 public:
  Finder(const Graph& graph, const configs::TransformerModel& model) : graph_(graph), model_(model) {}

  std::vector<Transfer> run() {
    add_operators();
    if (model_.data_parallel() > 1) {
      find_weights();
      if (model_.zero_stage() >= 1) add_gathers(Pass::kForward);
      if (model_.zero_stage() >= 3) add_gathers(Pass::kBackward);
      add_sums();
    }
    return std::move(all_);
  }

 private:
  // A weight, and the operator that reads it in a pass or makes its gradient.
  struct Weight {
    int tensor = -1;
    int at = -1;
  };

  const Operator& at(int index) const { return graph_.operators[static_cast<size_t>(index)]; }

  void add_operators() {
    for (int index = 0; index < static_cast<int>(graph_.operators.size()); ++index) {
      if (at(index).kind == OperatorClass::kCommunication) all_.push_back(transfer_of(graph_, index, model_));
    }
  }

  void find_weights() {
    std::map<std::string, int> gradients;
    for (int index = 0; index < static_cast<int>(graph_.operators.size()); ++index) {
      for (const int id : at(index).outputs) {
        if (graph_.tensor(id).role == Role::kGradient) gradients[graph_.tensor(id).name] = index;
      }
    }
    for (int id = 0; id < static_cast<int>(graph_.tensors.size()); ++id) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.role != Role::kWeight) continue;
      for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
        const auto reader = std::ranges::find(tensor.consumers, pass, [&](int index) { return at(index).pass; });
        if (reader != tensor.consumers.end()) readers_[pass].push_back({id, *reader});
      }
      const auto gradient = gradients.find("d " + tensor.name);
      if (gradient != gradients.end()) makers_.push_back({id, gradient->second});
    }
  }

  // Groups weights in the order of their operators; weights of small operators join those of the next product.
  std::vector<std::vector<Weight>> buckets(std::vector<Weight> weights) const {
    std::ranges::stable_sort(weights, {}, &Weight::at);
    std::vector<std::vector<Weight>> made(1);
    for (const Weight& each : weights) {
      made.back().push_back(each);
      if (at(each.at).work == Work::kProduct) made.emplace_back();
    }
    // Weights after the last product join its group.
    if (made.size() > 1) {
      made[made.size() - 2].insert(made[made.size() - 2].end(), made.back().begin(), made.back().end());
      made.pop_back();
    }
    if (made.back().empty()) made.pop_back();
    return made;
  }

  Transfer of(const std::vector<Weight>& bucket, Work work, Pass pass, const std::string& what) const {
    const auto largest =
        std::ranges::max_element(bucket, {}, [&](const Weight& each) { return graph_.tensor(each.tensor).words(); });
    Transfer made{.name = what + graph_.tensor(largest->tensor).name, .work = work, .pass = pass, .data_parallel = true};
    made.gpus = model_.data_parallel();
    for (const Weight& each : bucket) made.bytes += graph_.tensor(each.tensor).words() * graph_.tensor(each.tensor).bytes;
    return made;
  }

  void add_gathers(Pass pass) {
    for (const std::vector<Weight>& bucket : buckets(readers_[pass])) {
      all_.push_back(of(bucket, Work::kAllGather, pass, "all-gather "));
      all_.back().before = std::ranges::min_element(bucket, {}, &Weight::at)->at;
    }
  }

  void add_sums() {
    const Work work = model_.zero_stage() > 0 ? Work::kReduceScatter : Work::kAllReduce;
    for (const std::vector<Weight>& bucket : buckets(makers_)) {
      all_.push_back(of(bucket, work, Pass::kBackward, work == Work::kAllReduce ? "all-reduce d " : "reduce-scatter d "));
      for (const Weight& each : bucket) all_.back().after.push_back(each.at);
    }
  }

  const Graph& graph_;
  const configs::TransformerModel& model_;
  std::vector<Transfer> all_;
  std::map<Pass, std::vector<Weight>> readers_;
  std::vector<Weight> makers_;
};

}  // namespace

Transfer transfer_of(const Graph& graph, int index, const configs::TransformerModel& model) {
  const Operator& each = graph.operators[static_cast<size_t>(index)];
  const uint64_t gpus = each.work == Work::kAllToAll ? model.context_parallel() : model.tensor_parallel();
  const uint64_t bytes = std::max(graph.bytes(each.inputs), graph.bytes(each.outputs));
  return {.name = each.name, .work = each.work, .pass = each.pass, .gpus = gpus, .bytes = bytes, .of = index};
}

std::vector<Transfer> transfers_of(const Graph& graph, const configs::TransformerModel& model) {
  return Finder(graph, model).run();
}

uint64_t sent_bytes(Work work, uint64_t bytes, uint64_t gpus) {
  const uint64_t once = bytes / gpus * (gpus - 1);
  return work == Work::kAllReduce ? 2 * once : once;
}

uint64_t steps_of(Work work, uint64_t gpus) {
  switch (work) {
    case Work::kAllReduce:
      return 2 * (gpus - 1);
    case Work::kAllGather:
    case Work::kReduceScatter:
      return gpus - 1;
    case Work::kAllToAll:
      return 1;
    default:
      throw std::logic_error("steps of an operator that is no transfer");
  }
}

}  // namespace warpfold::layer
