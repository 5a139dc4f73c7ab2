#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// A generated instruction before it has its place.
struct Line {
  std::string text;
  isa::Effect effect;
};
using Lines = std::vector<Line>;

Lines& append(Lines& lines, const Lines& more);
void add_lines(Code& code, const Lines& lines);
// In the order of list_schedule().
void add_scheduled(Code& code, const Lines& lines);

// `filler` spread evenly between the lines of `main`, the order of each kept: what a compiler does with independent work.
Lines interleave(const Lines& main, const Lines& filler);

// Registers from `first` on, four to a fragment of 16 x 16 halves (LDSM.x4), and the shared memory that they come from.
struct FragmentRing {
  uint32_t first = 0;
  uint32_t slots = 0;
  uint32_t address = 0;     // register
  bool transposed = false;  // LDSM.T: k runs along the rows of shared memory
};

// D += A B of one warp on m16n8k16. A comes from shared memory, two steps of k at a time, or lies in registers; B comes from shared
// memory, fragments of 16 columns in a ring. The next fragment is loaded as soon as a slot is free.
struct WarpProduct {
  uint32_t blocks_m = 1;  // of 16 rows
  uint32_t blocks_n = 1;  // of 8 columns, even
  uint32_t steps = 1;     // of 16 along k
  uint32_t accumulators = 0;
  bool fresh = false;  // the first step adds to nothing
  // From shared memory: `a.slots` = 2 x blocks_m, or blocks_m where registers are short. In registers (a.slots = 0): fragment
  // (m, step) at a.first + (m x steps + step) x a_stride.
  FragmentRing a;
  uint32_t a_stride = 4;
  FragmentRing b;
};

struct ProductLines {
  Lines first_loads;  // what fits the rings before the first HMMA
  Lines products;     // HMMA with the other loads between them
};
ProductLines lines_of(const WarpProduct& product);

// HMMA of a product.
constexpr uint32_t products_of(const WarpProduct& product) { return product.blocks_m * product.blocks_n * product.steps; }

}  // namespace warpfold::workloads
