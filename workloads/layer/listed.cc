#include "workloads/layer/listed.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "configs/escape/quoted.h"
#include "configs/near_miss.h"
#include "configs/size_limits.h"
#include "workloads/layer/counts.h"
#include "workloads/layer/dimensions.h"
#include "workloads/layer/list_fit.h"
#include "workloads/layer/signatures.h"

namespace warpfold::layer {

namespace {

using configs::Finding;
using configs::kMostSize;
using configs::kMostWords;
using configs::TransformerModel;

constexpr int kMostOperators = 1000;

std::string indexed(const char* field, int index) { return std::string(field) + "[" + std::to_string(index) + "]"; }

class Reader {
 public:
  explicit Reader(const TransformerModel& model) : model_(model) {}

  std::expected<Graph, Finding> read() {
    for (auto step : {&Reader::read_dimensions, &Reader::read_tensors, &Reader::read_operators, &Reader::check_makers,
                      &Reader::sort, &Reader::fit}) {
      if (auto fault = (this->*step)()) return std::unexpected(std::move(*fault));
    }
    return std::move(graph_);
  }

 private:
  using Fault = std::optional<Finding>;

  Fault read_dimensions() {
    for (int d = 0; d < model_.dimension_size(); ++d) {
      const configs::ModelDimension& each = model_.dimension(d);
      const std::string path = indexed("dimension", d);
      if (each.name().empty()) return Finding{path, "a dimension has no name"};
      if (each.size() < 1 || each.size() > kMostSize)
        return Finding{path, "dimension " + escape::quoted(each.name()) + " must have a size from 1 to " +
                                 std::to_string(kMostSize) + ", not " + std::to_string(each.size())};
      if (!sizes_.try_emplace(each.name(), each.size()).second)
        return Finding{path + ".name", "a second dimension called " + escape::quoted(each.name())};
    }
    return std::nullopt;
  }

  Fault read_tensors() {
    for (int t = 0; t < model_.tensor_size(); ++t) {
      const configs::ModelTensor& each = model_.tensor(t);
      const std::string path = indexed("tensor", t);
      if (each.name().empty()) return Finding{path, "a tensor has no name"};
      if (!tensors_.try_emplace(each.name(), t).second)
        return Finding{path + ".name", "a second tensor called " + escape::quoted(each.name())};
      Tensor made{.name = each.name(), .role = static_cast<Role>(each.role()), .result = each.result()};
      if (made.role == Role::kMask) made.bytes = kMaskBytes;
      if (made.role == Role::kState) made.bytes = kStateBytes;
      uint64_t words = 1;
      for (int d = 0; d < each.dimension_size(); ++d) {
        const std::string& name = each.dimension(d);
        const auto size = sizes_.find(name);
        const std::string at = path + "." + indexed("dimension", d);
        if (size == sizes_.end())
          return Finding{at, "no dimension called " + escape::quoted(name) + suggestion(name, names_of(sizes_))};
        if (std::ranges::find(made.dimensions, name, &Dimension::name) != made.dimensions.end())
          return Finding{at, "tensor " + escape::quoted(each.name()) + " has dimension " + escape::quoted(name) + " twice"};
        made.dimensions.push_back({name, size->second});
        if (__builtin_mul_overflow(words, size->second, &words) || words > kMostWords)
          return Finding{path,
                         "tensor " + escape::quoted(each.name()) + " has more than " + std::to_string(kMostWords) + " elements"};
      }
      graph_.tensors.push_back(std::move(made));
    }
    return std::nullopt;
  }

  Fault read_operators() {
    if (model_.operator__size() > kMostOperators)
      return Finding{"operator", "at most " + std::to_string(kMostOperators) + " operators"};
    const std::vector<std::string> works = work_names();
    std::map<std::string, int> names;
    for (int o = 0; o < model_.operator__size(); ++o) {
      const configs::ModelOperator& each = model_.operator_(o);
      const std::string path = indexed("operator", o);
      if (each.name().empty()) return Finding{path, "an operator has no name"};
      if (!names.try_emplace(each.name(), o).second)
        return Finding{path + ".name", "a second operator called " + escape::quoted(each.name())};
      if (each.work().empty()) return Finding{path, "operator " + escape::quoted(each.name()) + " has no work"};
      const auto work = std::ranges::find(works, each.work());
      if (work == works.end())
        return Finding{path + ".work", "no operator called " + escape::quoted(each.work()) + suggestion(each.work(), works)};
      Operator made{.name = each.name(),
                    .work = static_cast<Work>(work - works.begin()),
                    .pass = static_cast<Pass>(each.pass()),
                    .causal = each.causal(),
                    .drops = each.dropout()};
      made.kind = class_of(made.work);
      if (each.has_kind() && each.kind() != name_of(made.kind))
        return Finding{path + ".kind",
                       escape::quoted(each.work()) + " is of class " + name_of(made.kind) + ", not " + escape::quoted(each.kind())};
      if (auto fault = count_tensors(each, made.work, path)) return fault;
      for (int i = 0; i < each.input_size(); ++i) {
        if (auto fault = add_tensor(each.input(i), path + "." + indexed("input", i), made.inputs)) return fault;
      }
      for (int i = 0; i < each.output_size(); ++i) {
        if (auto fault = add_tensor(each.output(i), path + "." + indexed("output", i), made.outputs)) return fault;
      }
      graph_.operators.push_back(std::move(made));
    }
    return std::nullopt;
  }

  static Fault count_tensors(const configs::ModelOperator& each, Work work, const std::string& path) {
    const Signature signature = signature_of(work);
    if (signature.fit == Fit::kNone)
      return Finding{path + ".work", "transfers follow from tensor_parallel, context_parallel and data_parallel of a model card"};
    const auto wrong = [&](const char* what, int there, size_t least, size_t most) -> Fault {
      if (static_cast<size_t>(there) >= least && static_cast<size_t>(there) <= most) return std::nullopt;
      return Finding{path, std::string(name_of(work)) + " " + what + " " + std::to_string(least) +
                               (most > least ? " or " + std::to_string(most) : "") + " tensors, not " + std::to_string(there)};
    };
    if (auto fault = wrong("reads", each.input_size(), signature.least_inputs, signature.most_inputs)) return fault;
    return wrong("makes", each.output_size(), signature.least_outputs, signature.most_outputs);
  }

  Fault add_tensor(const std::string& name, const std::string& path, std::vector<int>& ids) const {
    const auto found = tensors_.find(name);
    if (found == tensors_.end())
      return Finding{path, "no tensor called " + escape::quoted(name) + suggestion(name, names_of(tensors_))};
    if (std::ranges::find(ids, found->second) != ids.end())
      return Finding{path, "tensor " + escape::quoted(name) + " is named twice"};
    ids.push_back(found->second);
    return std::nullopt;
  }

  // Checks that each tensor comes from outside or from one operator, and that each is used.
  Fault check_makers() {
    for (int o = 0; o < static_cast<int>(graph_.operators.size()); ++o) {
      const Operator& each = graph_.operators[static_cast<size_t>(o)];
      for (size_t i = 0; i < each.outputs.size(); ++i) {
        Tensor& tensor = graph_.tensors[static_cast<size_t>(each.outputs[i])];
        const std::string at = indexed("operator", o) + "." + indexed("output", static_cast<int>(i));
        if (given(each.outputs[i])) return Finding{at, escape::quoted(tensor.name) + " comes from outside: no operator makes it"};
        if (tensor.producer >= 0)
          return Finding{at, escape::quoted(tensor.name) + " is made by " +
                                 escape::quoted(graph_.operators[static_cast<size_t>(tensor.producer)].name) + " already"};
        tensor.producer = o;
      }
    }
    std::vector<bool> used(graph_.tensors.size(), false);
    for (int o = 0; o < static_cast<int>(graph_.operators.size()); ++o) {
      const Operator& each = graph_.operators[static_cast<size_t>(o)];
      for (size_t i = 0; i < each.inputs.size(); ++i) {
        const Tensor& tensor = graph_.tensor(each.inputs[i]);
        used[static_cast<size_t>(each.inputs[i])] = true;
        const std::string at = indexed("operator", o) + "." + indexed("input", static_cast<int>(i));
        if (tensor.producer < 0 && !given(each.inputs[i]))
          return Finding{at, "no operator makes " + escape::quoted(tensor.name) + "; given: true where it comes from outside"};
        if (tensor.producer < 0) continue;
        const Operator& maker = graph_.operators[static_cast<size_t>(tensor.producer)];
        if (maker.pass > each.pass)
          return Finding{at, escape::quoted(tensor.name) + " is made in the " + name_of(maker.pass) + " pass, after " +
                                 escape::quoted(each.name) + " of the " + name_of(each.pass) + " pass"};
      }
    }
    for (int t = 0; t < static_cast<int>(graph_.tensors.size()); ++t) {
      if (used[static_cast<size_t>(t)] || graph_.tensor(t).producer >= 0) continue;
      return Finding{indexed("tensor", t), "no operator reads or makes " + escape::quoted(graph_.tensor(t).name)};
    }
    return std::nullopt;
  }

  bool given(int id) const {
    const Role role = graph_.tensor(id).role;
    const configs::ModelTensor& tensor = model_.tensor(id);
    // An optimiser's state is both read and written: the tensor that is written has a name of its own.
    return role == Role::kWeight || tensor.given();
  }

  // Sorts operators so that readers follow makers; otherwise in the order of the list.
  Fault sort() {
    const size_t count = graph_.operators.size();
    std::vector<int> order;
    std::vector<bool> placed(count, false);
    const auto ready = [&](size_t o) {
      return std::ranges::all_of(graph_.operators[o].inputs, [&](int id) {
        const int producer = graph_.tensor(id).producer;
        return producer < 0 || placed[static_cast<size_t>(producer)];
      });
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t o = 0; o < count; ++o) {
        if (placed[o] || !ready(o)) continue;
        placed[o] = moved = true;
        order.push_back(static_cast<int>(o));
      }
    }
    if (order.size() < count) return cycle_among(placed);
    listed_ = order;
    std::vector<Operator> sorted;
    for (const int o : order) sorted.push_back(std::move(graph_.operators[static_cast<size_t>(o)]));
    graph_.operators = std::move(sorted);
    for (int o = 0; o < static_cast<int>(count); ++o) {
      for (const int id : graph_.operators[static_cast<size_t>(o)].outputs) graph_.tensors[static_cast<size_t>(id)].producer = o;
      for (const int id : graph_.operators[static_cast<size_t>(o)].inputs)
        graph_.tensors[static_cast<size_t>(id)].consumers.push_back(o);
    }
    for (Tensor& each : graph_.tensors) each.result = each.result || (each.producer >= 0 && each.consumers.empty());
    return std::nullopt;
  }

  // Finds a cycle: walks from an operator that was not placed to an operator that it waits for, until one repeats.
  Finding cycle_among(const std::vector<bool>& placed) const {
    int at = static_cast<int>(std::ranges::find(placed, false) - placed.begin());
    std::vector<int> way;
    while (std::ranges::find(way, at) == way.end()) {
      way.push_back(at);
      for (const int id : graph_.operators[static_cast<size_t>(at)].inputs) {
        const int producer = graph_.tensor(id).producer;
        if (producer < 0 || placed[static_cast<size_t>(producer)]) continue;
        at = producer;
        break;
      }
    }
    way.erase(way.begin(), std::ranges::find(way, at));
    std::string text;
    for (const int o : way) text += escape::quoted(graph_.operators[static_cast<size_t>(o)].name) + " waits for ";
    return {indexed("operator", way.front()),
            "a cycle: " + text + escape::quoted(graph_.operators[static_cast<size_t>(way.front())].name)};
  }

  Fault fit() {
    for (size_t o = 0; o < graph_.operators.size(); ++o) {
      Operator& each = graph_.operators[o];
      const std::string path = indexed("operator", listed_[o]);
      if (const auto wrong = fit_operator(graph_, each))
        return Finding{path + (wrong->input < 0 ? "" : "." + indexed("input", wrong->input)), wrong->message};
      uint64_t space = 1;
      for (const Dimensions* all : {&each.independent, &each.reduction}) {
        for (const Dimension& one : *all) {
          if (__builtin_mul_overflow(space, one.size, &space) || space > kMostWords)
            return Finding{path, "the iteration space of " + escape::quoted(each.name) + " has more than " +
                                     std::to_string(kMostWords) + " elements"};
        }
      }
      count_flops(each, space);
    }
    return std::nullopt;
  }

  // Counts operations as Tape does.
  static void count_flops(Operator& each, uint64_t space) {
    if (each.work == Work::kProduct)
      each.flops = 2 * space;
    else if (each.work == Work::kAttention)
      each.flops = 4 * space / (each.causal ? 2 : 1);
    else if (each.work == Work::kAttentionGradient)
      each.flops = 4 * space / (each.causal ? 2 : 1) / 2 * 5;
    else
      each.flops = flops_per_element(each.work) * space;
  }

  template <typename Value>
  static std::vector<std::string> names_of(const std::map<std::string, Value>& all) {
    std::vector<std::string> names;
    for (const auto& [name, value] : all) names.push_back(name);
    return names;
  }

  const TransformerModel& model_;
  std::map<std::string, uint64_t> sizes_;
  std::map<std::string, int> tensors_;
  Graph graph_;
  std::vector<int> listed_;  // position of each sorted operator in the model
};

}  // namespace

std::expected<Graph, Finding> listed_layer(const TransformerModel& model) { return Reader(model).read(); }

}  // namespace warpfold::layer
