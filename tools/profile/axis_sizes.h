#pragma once

#include <cstdint>

#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"
#include "tools/profile/sizes.h"

namespace warpfold::profile {

// Sizes of ATen's kernels whose work depends on an axis: the operator's numbers (`Operator::values`) say it, the launch's grid and
// block check it. Each function sets `sizes.missing` if the trace lacks a size, or if the launch is none of the sizes' kernel.
// `bytes` are those of an element.

// aten::cat, listing torch_lists.cu: each input's elements, and the sectors that a warp reads and writes.
void find_concatenation(const NamedKernel& named, const LaunchShape& shape, uint64_t bytes, Sizes& sizes);

// reduce_kernel of a tensor's last or first extents, listings torch_row_sums and torch_column_sums:
//
//   <512, 1>, block 32 x 16   a warp a row of fewer than 8,192 elements, or a CTA a row
//   <128, 4>, block 32 x 4    a thread four columns, warps and grid.y share the rows
//
// Source: pytorch/pytorch @v2.4, aten/src/ATen/native/cuda/Reduce.cuh, setReduceConfig: a warp of a CTA takes a row for itself as
// long as a lane has fewer than 256 elements of it.
void find_reduction(const NamedKernel& named, const LaunchShape& shape, Sizes& sizes);

// aten::index_select of rows, listing torch_lists.cu: rows and columns of the result. Rows that are read are distinct.
void find_gather(const LaunchShape& shape, uint64_t bytes, Sizes& sizes);

// vLLM's rotary_embedding: tokens, heads of queries and of keys, and the distance of tokens.
void find_rotary(const LaunchShape& shape, Sizes& sizes);

}  // namespace warpfold::profile
