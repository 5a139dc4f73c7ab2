#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/profile/name_table.h"
#include "tools/profile/profile.h"

namespace warpfold::profile {

// The sizes of a launch under the names that a rule's templates use, and what is to be said of them.
struct Sizes {
  std::map<std::string, std::string> values;
  std::vector<std::string> notes;  // derived within a tile; grid and sizes disagree
  std::string missing;             // why there are none
  bool grid_fits = false;          // PRODUCT: tiles of the name cover the product in the launch's grid
};

// Sizes of the operator's tensors where the trace has them, else of the grid:
//
//   PRODUCT    m and n of whole tiles. A grid does not say k: without the operator's tensors they are missing.
//              Checked, of a CTA a tile: the grid is that of CUTLASS's swizzles by 1, 2, 4, 8 or 16.
//   ELEMENTS   CTAs x threads x elements of a thread. Checked: a thread has 1 to 32 elements.
//   ROWS       missing without the operator's first tensor. Checked: no more rows than warps.
//   ATTENTION  queries of whole tiles, batch and heads of grid.y and grid.z. Checked: the grid's three extents.
Sizes sizes_of(const NamedKernel& named, const LaunchShape& shape);

}  // namespace warpfold::profile
