#include "tools/profile/strided.h"

#include <algorithm>
#include <numeric>
#include <ranges>
#include <string_view>
#include <utility>

namespace warpfold::profile {
namespace {

using Extents = std::vector<uint64_t>;

struct Tensor {
  Extents extents;
  Extents strides;
};

// The operator's tensors that have extents; none if the strides of one are not recorded.
std::vector<Tensor> tensors_of(const Operator& op) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    if (op.inputs[i].empty()) continue;
    if (i >= op.strides.size() || op.strides[i].size() != op.inputs[i].size()) return {};
    tensors.push_back({op.inputs[i], op.strides[i]});
  }
  return tensors;
}

// The extents to which the tensors broadcast, slowest first; empty if they do not.
Extents shape_of(const std::vector<Tensor>& tensors) {
  Extents shape;
  for (const Tensor& tensor : tensors) {
    if (tensor.extents.size() > shape.size()) shape.insert(shape.begin(), tensor.extents.size() - shape.size(), 1);
    const size_t missing = shape.size() - tensor.extents.size();
    for (size_t i = 0; i < tensor.extents.size(); ++i) {
      uint64_t& extent = shape[missing + i];
      if (extent == 1) extent = tensor.extents[i];
      if (tensor.extents[i] != 1 && tensor.extents[i] != extent) return {};
    }
  }
  return shape;
}

// The tensor's strides in the loops over `shape`. The stride is 0 in a loop over which it is broadcast.
Extents strides_over(const Extents& shape, const Tensor& tensor) {
  Extents strides(shape.size(), 0);
  const size_t missing = shape.size() - tensor.extents.size();
  for (size_t i = 0; i < tensor.extents.size(); ++i) {
    if (tensor.extents[i] != 1 || shape[missing + i] == 1) strides[missing + i] = tensor.strides[i];
  }
  return strides;
}

enum class Order { kAsIs, kSwapped, kOpen };

// The order of two loops, `inner` inside `outer` at present: that of the first operand that tells them apart.
Order order_of(const Extents& shape, const std::vector<Extents>& operands, size_t inner, size_t outer) {
  for (const Extents& strides : operands) {
    if (strides[inner] == 0 || strides[outer] == 0) continue;
    if (strides[inner] < strides[outer]) return Order::kAsIs;
    if (strides[inner] > strides[outer] || shape[inner] > shape[outer]) return Order::kSwapped;
  }
  return Order::kOpen;
}

// The loops' order, fastest first. An insertion that passes loops whose order is open, as ATen's does.
std::vector<size_t> ordered(const Extents& shape, const std::vector<Extents>& operands) {
  std::vector<size_t> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moving = i;
    for (size_t at = i; at-- > 0;) {
      const Order found = order_of(shape, operands, order[at], order[moving]);
      if (found == Order::kAsIs) break;
      if (found == Order::kOpen) continue;
      std::swap(order[at], order[moving]);
      moving = at;
    }
  }
  return order;
}

// Joins neighbours that every operand passes through as one loop.
StridedPass joined(const StridedPass& pass) {
  StridedPass result{{}, std::vector<Extents>(pass.strides.size())};
  for (size_t i = 0; i < pass.extents.size(); ++i) {
    if (pass.extents[i] == 1) continue;
    const bool joins =
        !result.extents.empty() && std::ranges::all_of(std::views::iota(size_t{0}, pass.strides.size()), [&](size_t k) {
          return result.extents.back() * result.strides[k].back() == pass.strides[k][i];
        });
    if (joins) {
      result.extents.back() *= pass.extents[i];
      continue;
    }
    result.extents.push_back(pass.extents[i]);
    for (size_t k = 0; k < pass.strides.size(); ++k) result.strides[k].push_back(pass.strides[k][i]);
  }
  return result;
}

}  // namespace

std::optional<StridedPass> strided_pass_of(const Operator& op, size_t arguments) {
  std::vector<Tensor> tensors = tensors_of(op);
  const std::string_view name = op.name;
  const bool in_place = name.ends_with("_"), copies = name == "aten::copy_";
  const size_t first = copies ? 1 : 0;
  if (tensors.size() <= first || tensors.size() - first > arguments) return std::nullopt;
  const Extents shape = shape_of(tensors);
  if (shape.empty()) return std::nullopt;
  constexpr uint64_t kMostElements = uint64_t{1} << 31;  // TensorIterator splits passes whose offsets have more than 31 bits
  uint64_t elements = 1;
  for (const uint64_t extent : shape) {
    if (extent == 0 || extent > kMostElements / elements) return std::nullopt;
    elements *= extent;
  }
  std::vector<Extents> operands;
  if (in_place) operands.push_back(strides_over(shape, tensors.front()));
  for (size_t i = first; i < tensors.size(); ++i) operands.push_back(strides_over(shape, tensors[i]));
  for (const Extents& strides : operands) {
    for (size_t i = 0; i < shape.size(); ++i) {
      if (strides[i] > kMostElements / shape[i]) return std::nullopt;
    }
  }
  const std::vector<size_t> order = ordered(shape, operands);
  StridedPass pass;
  if (!in_place) {
    Extents dense(shape.size(), 1);
    uint64_t stride = 1;
    for (const size_t loop : order) {
      dense[loop] = stride;
      stride *= shape[loop];
    }
    operands.insert(operands.begin(), std::move(dense));
  }
  operands.resize(arguments + 1, Extents(shape.size(), 0));
  pass.strides.resize(operands.size());
  for (const size_t loop : order) {
    pass.extents.push_back(shape[loop]);
    for (size_t k = 0; k < operands.size(); ++k) pass.strides[k].push_back(operands[k][loop]);
  }
  return joined(pass);
}

}  // namespace warpfold::profile
