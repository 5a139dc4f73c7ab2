#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/profile/profile.h"

namespace warpfold::profile {

// The loops of an elementwise pass over tensors with strides, fastest first, as ATen's TensorIterator orders and joins them.
struct StridedPass {
  std::vector<uint64_t> extents;
  std::vector<std::vector<uint64_t>> strides;  // of the result, then of each argument, by extent, in elements
};

// Returns the pass of the operator with this number of arguments, or none if the operator's strides are not recorded or its tensors
// do not broadcast. The result is the first tensor of an operator in place ("aten::add_") and of aten::copy_; otherwise it is a new
// tensor, dense in the order of the loops. A missing argument is a scalar in memory, with strides of 0.
//
//   aten::copy_ of [8, 12, 64, 3137] with strides [2409216, 200768, 3137, 1] and [7227648, 64, 1, 2304]:
//   extents 3137, 768, 8; the result's strides 1, 3137, 2409216, the argument's 2304, 1, 7227648. The result's are
//   dense, but only the two loops that are dense in both tensors are joined.
//
// Source: pytorch/pytorch @v2.4, aten/src/ATen/TensorIterator.cpp (reorder_dimensions, coalesce_dimensions,
// allocate_or_resize_outputs).
std::optional<StridedPass> strided_pass_of(const Operator& op, size_t arguments);

}  // namespace warpfold::profile
