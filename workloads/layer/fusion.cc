#include "workloads/layer/fusion.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace warpfold::layer {

namespace {

bool has(const std::vector<int>& all, int one) { return std::ranges::find(all, one) != all.end(); }

// Contractions, attention and transfers are never fused with each other.
bool is_fusable(const Operator& each) {
  return each.kind == OperatorClass::kElementwise || each.kind == OperatorClass::kNormalisation;
}

bool same_set(const Dimensions& one, const Dimensions& other) {
  return one.size() == other.size() &&
         std::ranges::all_of(one, [&](const Dimension& each) { return std::ranges::find(other, each) != other.end(); });
}

Dimensions space_of(const Operator& each) {
  Dimensions all = each.independent;
  all.insert(all.end(), each.reduction.begin(), each.reduction.end());
  return all;
}

class Fuser {
 public:
  Fuser(const Graph& graph, Epilogue epilogue) : graph_(graph), epilogue_(epilogue) {}

  std::vector<FusedKernel> run() {
    for (int index = 0; index < static_cast<int>(graph_.operators.size()); ++index) place(index);
    fuse_siblings();
    place_scales();
    for (FusedKernel& kernel : kernels_) find_tensors(kernel);
    for (FusedKernel& kernel : kernels_) kernel.name = fused_name(graph_, kernel);
    return std::move(kernels_);
  }

 private:
  const Operator& at(int index) const { return graph_.operators[static_cast<size_t>(index)]; }

  void place(int index) {
    const Operator& each = at(index);
    if (scales_an_operand(index)) return;
    if (FusedKernel* product = is_fusable(each) ? product_before(index) : nullptr) {
      product->operators.push_back(index);
      return;
    }
    if (FusedKernel* last = is_fusable(each) ? last_fusable() : nullptr; last != nullptr && extends(*last, index)) {
      last->operators.push_back(index);
      return;
    }
    kernels_.push_back({each.name, {index}, {}, {}});
  }

  FusedKernel* last_fusable() {
    const auto found = std::find_if(kernels_.rbegin(), kernels_.rend(),
                                    [&](const FusedKernel& each) { return is_fusable(at(each.operators.front())); });
    return found == kernels_.rend() ? nullptr : &*found;
  }

  // The contraction whose epilogue can do the operator; null if there is none.
  FusedKernel* product_before(int index) {
    const Operator& each = at(index);
    for (FusedKernel& kernel : kernels_) {
      const Operator& first = at(kernel.operators.front());
      if (first.work != Work::kProduct || first.pass != each.pass) continue;
      const Operator& last = at(kernel.operators.back());
      const int result = last.outputs.front();
      if (each.inputs.front() != result || graph_.tensor(result).consumers.size() != 1 || graph_.tensor(result).result) continue;
      if (in_epilogue(kernel, each)) return &kernel;
    }
    return nullptr;
  }

  bool in_epilogue(const FusedKernel& kernel, const Operator& each) const {
    if (each.work == Work::kScale) return true;
    if (epilogue_ == Epilogue::kScale || each.kind != OperatorClass::kElementwise) return false;
    const bool addition = each.work == Work::kBias || each.work == Work::kResidual;
    if (epilogue_ == Epilogue::kOne) return addition && kernel.operators.size() == 1;
    return each.work != Work::kRope && each.work != Work::kRopeGradient;  // the two elements of a pair lie in different threads
  }

  // Moves a factor of an operand into the products that read it. Every reader of the operand must be a product.
  bool scales_an_operand(int index) {
    const Operator& each = at(index);
    if (each.work != Work::kScale) return false;
    const std::vector<int>& readers = graph_.tensor(each.outputs.front()).consumers;
    if (readers.empty() || !std::ranges::all_of(readers, [&](int reader) { return at(reader).work == Work::kProduct; }))
      return false;
    scales_.push_back(index);
    unscaled_[each.outputs.front()] = each.inputs.front();
    return true;
  }

  bool reads_from(const FusedKernel& kernel, const Operator& each) const {
    return std::ranges::any_of(kernel.operators, [&](int member) {
      const Operator& other = at(member);
      return std::ranges::any_of(each.inputs, [&](int id) { return has(other.outputs, id) || has(other.inputs, id); });
    });
  }

  const Dimensions& reduction_of(const FusedKernel& kernel) const {
    static const Dimensions none;
    for (const int member : kernel.operators) {
      if (!at(member).reduction.empty()) return at(member).reduction;
    }
    return none;
  }

  bool extends(const FusedKernel& kernel, int index) const {
    const Operator& each = at(index);
    const Operator& first = at(kernel.operators.front());
    if (each.pass != first.pass || !reads_from(kernel, each)) return false;
    if (!same_set(space_of(first), space_of(each))) return false;
    const Dimensions& reduced = reduction_of(kernel);
    if (!reduced.empty() && !each.reduction.empty() && !same_set(reduced, each.reduction)) return false;
    return !waits(kernel, {{}, {index}, {}, {}});
  }

  // True if a path leads from `from` to `to` through at least one other kernel.
  bool waits(const FusedKernel& from, const FusedKernel& to) const {
    std::set<int> seen;
    std::vector<int> open;
    const auto look = [&](int index) {
      for (const int id : at(index).inputs) {
        for (const int producer : graph_.producers(id)) {
          if (seen.insert(producer).second) open.push_back(producer);
        }
      }
    };
    for (const int member : to.operators) look(member);
    std::erase_if(open, [&](int index) { return has(from.operators, index); });
    for (const int member : from.operators) seen.erase(member);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      if (has(from.operators, index)) return true;
      look(index);
    }
    return false;
  }

  bool depends(const FusedKernel& from, const FusedKernel& to) const {
    return waits(from, to) || std::ranges::any_of(to.operators, [&](int member) { return reads_made(from, at(member)); });
  }
  bool reads_made(const FusedKernel& from, const Operator& each) const {
    return std::ranges::any_of(each.inputs, [&](int id) {
      const std::vector<int> made = graph_.producers(id);
      return std::ranges::any_of(made, [&](int producer) { return has(from.operators, producer); });
    });
  }

  bool siblings(const FusedKernel& one, const FusedKernel& other) const {
    const Operator& first = at(one.operators.front());
    const Operator& second = at(other.operators.front());
    if (first.pass != second.pass || !same_set(reduction_of(one), reduction_of(other))) return false;
    const Dimensions outer = reduction_of(one).empty() ? Dimensions{first.independent.front()} : reduction_of(one);
    const Dimensions space = space_of(second);
    const bool common =
        std::ranges::all_of(outer, [&](const Dimension& each) { return std::ranges::find(space, each) != space.end(); });
    return common && !depends(one, other);
  }

  void fuse_siblings() {
    size_t last = kernels_.size();
    for (size_t k = 0; k < kernels_.size(); ++k) {
      if (!is_fusable(at(kernels_[k].operators.front()))) continue;
      if (last < k && siblings(kernels_[last], kernels_[k])) {
        std::vector<int>& members = kernels_[k].operators;
        members.insert(members.begin(), kernels_[last].operators.begin(), kernels_[last].operators.end());
        kernels_.erase(kernels_.begin() + static_cast<std::ptrdiff_t>(last));
        --k;
      }
      last = k;
    }
  }

  void place_scales() {
    for (const int scale : scales_) {
      const int reader = graph_.tensor(at(scale).outputs.front()).consumers.front();
      for (FusedKernel& kernel : kernels_) {
        if (kernel.operators.front() == reader) kernel.operators.insert(kernel.operators.begin() + 1, scale);
      }
    }
  }

  void find_tensors(FusedKernel& kernel) const {
    for (const int member : kernel.operators) {
      for (int id : at(member).inputs) {
        if (unscaled_.contains(id)) id = unscaled_.at(id);
        const std::vector<int> made = graph_.producers(id);
        const bool inside = std::ranges::any_of(made, [&](int producer) { return has(kernel.operators, producer); });
        if (!inside && !has(kernel.inputs, id)) kernel.inputs.push_back(id);
      }
      for (const int id : at(member).outputs) {
        if (!unscaled_.contains(id) && read_outside(kernel, id)) kernel.outputs.push_back(id);
      }
    }
  }

  bool read_outside(const FusedKernel& kernel, int id) const {
    if (graph_.tensor(graph_.root(id)).result || graph_.tensor(id).result) return true;
    const auto outside = [&](const Tensor& each) {
      return std::ranges::any_of(each.consumers, [&](int reader) { return !has(kernel.operators, reader); });
    };
    if (outside(graph_.tensor(id)) || outside(graph_.tensor(graph_.root(id)))) return true;
    return std::ranges::any_of(graph_.tensors, [&](const Tensor& each) { return each.parent == id && outside(each); });
  }

  const Graph& graph_;
  Epilogue epilogue_;
  std::vector<FusedKernel> kernels_;
  std::vector<int> scales_;
  std::map<int, int> unscaled_;
};

}  // namespace

std::vector<FusedKernel> fuse(const Graph& graph, Epilogue epilogue) { return Fuser(graph, epilogue).run(); }

std::vector<FusedKernel> unfused(const Graph& graph) {
  std::vector<FusedKernel> kernels;
  for (int index = 0; index < static_cast<int>(graph.operators.size()); ++index) {
    const Operator& each = graph.operators[static_cast<size_t>(index)];
    kernels.push_back({each.name, {index}, each.inputs, each.outputs});
  }
  return kernels;
}

uint64_t words_of(const Graph& graph, const FusedKernel& kernel) {
  return graph.words(kernel.inputs) + graph.words(kernel.outputs);
}
uint64_t bytes_of(const Graph& graph, const FusedKernel& kernel) {
  return graph.bytes(kernel.inputs) + graph.bytes(kernel.outputs);
}
uint64_t flops_of(const Graph& graph, const FusedKernel& kernel) {
  uint64_t sum = 0;
  for (const int member : kernel.operators) sum += graph.operators[static_cast<size_t>(member)].flops;
  return sum;
}
uint64_t words_of(const Graph& graph, const std::vector<FusedKernel>& kernels) {
  uint64_t sum = 0;
  for (const FusedKernel& each : kernels) sum += words_of(graph, each);
  return sum;
}

}  // namespace warpfold::layer
