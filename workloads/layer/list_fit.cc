#include "workloads/layer/list_fit.h"

#include <algorithm>
#include <vector>

#include "configs/diagnostic.h"
#include "configs/escape/quoted.h"
#include "workloads/layer/dimensions.h"
#include "workloads/layer/signatures.h"

namespace warpfold::layer {

namespace {

std::string text_of(const Dimensions& all) {
  std::string text;
  for (const Dimension& each : all) text += (text.empty() ? "" : " ") + each.name;
  return "(" + text + ")";
}

class Fitter {
 public:
  Fitter(const Graph& graph, Operator& each) : graph_(graph), each_(each) {}

  std::optional<Misfit> run() {
    if (auto fault = statistics()) return fault;
    switch (signature_of(each_.work).fit) {
      case Fit::kProduct:
        return product();
      case Fit::kAttention:
        return attention(0);
      case Fit::kAttentionGradient:
        return attention(1);
      case Fit::kMap:
        return map();
      case Fit::kRows:
        return rows();
      case Fit::kSums:
        return sums();
      case Fit::kTranspose:
        return transpose();
      case Fit::kNone:
        break;
    }
    return Misfit{-1, "no operator of a list"};
  }

 private:
  using Fault = std::optional<Misfit>;

  const Tensor& input(size_t i) const { return graph_.tensor(each_.inputs[i]); }
  const Tensor& output(size_t i) const { return graph_.tensor(each_.outputs[i]); }
  std::string shown(const Tensor& tensor) const { return escape::quoted(tensor.name) + " " + text_of(tensor.dimensions); }
  std::string work() const { return name_of(each_.work); }

  // Only normalisations and attention make statistics of rows, beside their result, and only their gradients read them.
  static bool takes_statistic(Work work, size_t input) {
    switch (work) {
      case Work::kLayerNormGradient:
      case Work::kRmsNormGradient:
      case Work::kLayerNormWeightGradient:
      case Work::kRmsNormWeightGradient:
        return input == 2;
      case Work::kAttentionGradient:
        return input == 5;
      default:
        return false;
    }
  }
  static bool makes_statistic(Work work, size_t output) {
    return output == 1 && (work == Work::kLayerNorm || work == Work::kRmsNorm || work == Work::kAttention);
  }

  Fault statistics() const {
    const auto refusal = [&](const char* verb, const Tensor& tensor) {
      return work() + " " + verb + " a tensor of elements, not " + escape::quoted(tensor.name) + ", a statistic of rows";
    };
    for (size_t i = 0; i < each_.inputs.size(); ++i) {
      if (input(i).role == Role::kStatistic && !takes_statistic(each_.work, i))
        return Misfit{static_cast<int>(i), refusal("reads", input(i))};
    }
    for (size_t i = 0; i < each_.outputs.size(); ++i) {
      if (output(i).role == Role::kStatistic && !makes_statistic(each_.work, i)) return Misfit{-1, refusal("makes", output(i))};
    }
    return std::nullopt;
  }

  // Checks that an input has the same dimensions in the same order, or is a row of the innermost dimensions.
  Fault reads_like(const Tensor& read, size_t index, const Dimensions& all) const {
    if (read.role == Role::kStatistic) return std::nullopt;
    for (const Dimension& one : read.dimensions) {
      if (!has(all, one))
        return Misfit{static_cast<int>(index), work() + " makes " + text_of(all) + ": " + shown(read) + " does not fit"};
    }
    Dimensions in_order = all;
    std::erase_if(in_order, [&](const Dimension& one) { return !has(read.dimensions, one); });
    const bool innermost = read.dimensions.empty() || all.empty() || read.dimensions.back() == all.back();
    if (in_order == read.dimensions && innermost) return std::nullopt;
    return Misfit{static_cast<int>(index), unreadable(read) + " beside " + text_of(all) + ": a transpose in front of it turns it"};
  }
  std::string unreadable(const Tensor& tensor) const { return "no kernel of " + work() + " reads " + shown(tensor); }

  Fault map() {
    const Dimensions& all = output(0).dimensions;
    if (all.empty()) return Misfit{-1, work() + " makes a tensor without dimensions"};
    for (size_t i = 0; i < each_.inputs.size(); ++i) {
      if (auto fault = reads_like(input(i), i, all)) return fault;
    }
    if (input(0).dimensions != all)
      return Misfit{0, work() + " makes " + text_of(all) + " of as many elements, not of " + shown(input(0))};
    const bool turns = each_.work == Work::kRope || each_.work == Work::kRopeGradient;
    if (turns && (all.back().name != "p" || all.back().size % 2 != 0))
      return Misfit{0, work() + " turns pairs of a head's elements: p, innermost and even, not " + shown(input(0))};
    each_.independent = all;
    return std::nullopt;
  }

  Fault rows() {
    if (auto fault = map()) return fault;
    each_.reduction = {each_.independent.back()};
    each_.independent.pop_back();
    return std::nullopt;
  }

  Fault sums() {
    const Dimensions& read = input(0).dimensions;
    const Dimensions& made = output(0).dimensions;
    for (const Dimension& one : made) {
      if (!has(read, one)) return Misfit{0, work() + " makes " + text_of(made) + ": " + shown(input(0)) + " has no " + one.name};
    }
    if (made.empty() || made.back() != read.back())
      return Misfit{0, unreadable(input(0)) + " to make " + text_of(made) + ": the innermost dimension stays"};
    for (size_t i = 1; i < each_.inputs.size(); ++i) {
      if (auto fault = reads_like(input(i), i, read)) return fault;
    }
    each_.independent = made;
    each_.reduction = without(read, made);
    return std::nullopt;
  }

  Fault transpose() {
    const Dimensions& read = input(0).dimensions;
    const Dimensions& made = output(0).dimensions;
    if (read.size() != made.size() || !without(read, made).empty())
      return Misfit{0, "transpose makes " + text_of(made) + " of the same dimensions, not of " + shown(input(0))};
    if (read.empty()) return Misfit{0, "transpose reads a tensor without dimensions"};
    each_.independent = read;
    return std::nullopt;
  }

  // C = A B. Dimensions that all three have are batches of products.
  Fault product() {
    const Dimensions& a = input(0).dimensions;
    const Dimensions& b = input(1).dimensions;
    const Dimensions& c = output(0).dimensions;
    Dimensions batches;
    Dimensions rows;
    Dimensions columns;
    for (const Dimension& one : c) {
      if (!has(a, one) && !has(b, one)) return Misfit{-1, "product makes " + shown(output(0)) + ": no operand has " + one.name};
      (has(a, one) && has(b, one) ? batches : has(a, one) ? rows : columns).push_back(one);
    }
    Dimensions summed;
    for (const Dimension& one : a) {
      if (has(b, one) && !has(c, one)) summed.push_back(one);
      if (!has(b, one) && !has(c, one))
        return Misfit{0, "product sums over " + one.name + ", which " + shown(input(1)) + " has not"};
    }
    for (const Dimension& one : b) {
      if (!has(a, one) && !has(c, one))
        return Misfit{1, "product sums over " + one.name + ", which " + shown(input(0)) + " has not"};
    }
    if (summed.empty()) return Misfit{-1, "product of " + shown(input(0)) + " and " + shown(input(1)) + " sums over nothing"};
    for (const auto& [tensor, at, groups] : {std::tuple{&input(0), 0, std::pair{&rows, &summed}},
                                             {&input(1), 1, {&summed, &columns}},
                                             {&output(0), -1, {&rows, &columns}}}) {
      if (is_matrix(tensor->dimensions, batches, *groups.first, *groups.second)) continue;
      return Misfit{at, std::string("no matrix product ") + (at < 0 ? "stores " : "reads ") + shown(*tensor) + ": rows " +
                            text_of(*groups.first) + " and columns " + text_of(*groups.second) +
                            " have to lie side by side, one of them innermost"};
    }
    each_.independent = c;
    each_.reduction = summed;
    each_.product = {volume(rows), volume(columns), volume(summed), volume(batches)};
    return std::nullopt;
  }

  // A group of dimensions acts as one dimension if it is contiguous and in order. A batch is a stride, so it must not be innermost.
  static bool is_matrix(const Dimensions& all, const Dimensions& batches, const Dimensions& one, const Dimensions& other) {
    for (const Dimensions* group : {&one, &other}) {
      if (group->empty()) continue;
      const auto found = std::ranges::search(all, *group);
      if (found.empty()) return false;
    }
    return all.empty() || !has(batches, all.back());
  }

  // Dimensions: sequences, tokens, heads, elements of a head. The number of heads is a multiple of the number of key heads.
  Fault attention(size_t queries) {
    const Dimensions& q = input(queries).dimensions;
    for (const size_t i : {queries, queries + 1, queries + 2}) {
      const Dimensions& each = input(i).dimensions;
      const bool heads = each.size() == 4 && (each[2].name == "h" || (i > queries && each[2].name == "g"));
      if (!heads || each[0].name != "b" || each[3].name != "p")
        return Misfit{static_cast<int>(i), unreadable(input(i)) + ": it reads (b tokens h p), keys and values (b tokens g p)"};
    }
    const Dimensions& k = input(queries + 1).dimensions;
    if (input(queries + 2).dimensions != k)
      return Misfit{static_cast<int>(queries) + 2,
                    "keys " + shown(input(queries + 1)) + " and values " + shown(input(queries + 2)) + " differ"};
    if (q[2].size % k[2].size != 0)
      return Misfit{
          static_cast<int>(queries) + 1,
          "heads (" + std::to_string(q[2].size) + ") must be a multiple of the heads of keys, not " + std::to_string(k[2].size)};
    for (size_t i = 0; i < each_.inputs.size(); ++i) {
      const bool like_queries = i == 0 || i == 4;
      if (queries == 1 && like_queries && input(i).dimensions != q)
        return Misfit{static_cast<int>(i), unreadable(input(i)) + " beside queries " + text_of(q)};
    }
    for (size_t i = 0; i < (queries == 0 ? 1 : 3); ++i) {
      if (output(i).dimensions != input(queries + i).dimensions)
        return Misfit{-1, work() + " makes " + text_of(input(queries + i).dimensions) + ", not " + shown(output(i))};
    }
    each_.independent = q;
    each_.reduction = {{"k", k[1].size}};
    return std::nullopt;
  }

  const Graph& graph_;
  Operator& each_;
};

}  // namespace

std::optional<Misfit> fit_operator(const Graph& graph, Operator& each) { return Fitter(graph, each).run(); }

}  // namespace warpfold::layer
