#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// The sizes of a launch, under the names that a rule's templates use, with notes on them.
struct Sizes {
  std::map<std::string, std::string> values;
  std::vector<std::string> notes;  // the size is known only to within a tile; or grid and sizes disagree
  std::string missing;             // the reason if there are none
  bool grid_fits = false;          // PRODUCT, CONVOLUTION: the tiles of the name cover the product in the launch's grid
};

// Returns the sizes of the operator's tensors if the trace has them, otherwise the sizes that follow from the grid:
//
//   PRODUCT    m and n of whole tiles. A grid does not tell k: without the operator's tensors the sizes are missing.
//              Checked, if a CTA has one tile: the grid is that of CUTLASS's swizzles by 1, 2, 4, 8 or 16.
//   ELEMENTS   CTAs x threads x elements per thread. Checked: a thread has 1 to 32 elements.
//   STRIDED    as ELEMENTS, with the extents and strides of strided.h as fields of a launch description
//   (torch_strided_*.textproto).
//              Without the operator's strides: the extents of its tensors, or else a CTA's elements and the CTAs, densely.
//   ROWS       missing without the operator's first tensor. Checked: no more than two rows per warp.
//   TILES      columns of grid.x tiles, rows of grid.y tiles, whatever the operator says.
//   CONVOLUTION  missing without the operator's image, filter and stride. Checked: as PRODUCT.
//   CONCATENATION, REDUCTION, GATHER, ROTARY   of axis_sizes.h. Missing without the operator's tensors. Checked: grid and block.
//   LAYOUT, CHUNKS, BATCH_NORM   of grid_sizes.h.
//   STATED     the rule's expressions of the launch and the launch near it. Missing if one is no whole number from 1 on.
//   ATTENTION  queries of whole tiles, batch and heads of grid.y and grid.z. Checked: the grid's three extents.
Sizes sizes_of(const NamedKernel& named, const LaunchShape& shape);

}  // namespace warpfold::profile
