#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workloads/common/program.h"

namespace warpfold::workloads {

// A generated instruction that is not yet in its final order.
struct Line {
  std::string text;
  isa::Effect effect;
};
using Lines = std::vector<Line>;

Lines& append(Lines& lines, const Lines& more);
void add_lines(Code& code, const Lines& lines);
// Adds the lines in the order that list_schedule() gives them.
void add_scheduled(Code& code, const Lines& lines);

// Spreads `filler` evenly between the lines of `main`, as a compiler does with independent work. Both keep their order.
Lines interleave(const Lines& main, const Lines& filler);

// A ring of registers from `first` on, with four registers per fragment of 16 x 16 halves (LDSM.x4), and the shared memory from
// which the fragments are loaded.
struct FragmentRing {
  uint32_t first = 0;
  uint32_t slots = 0;
  uint32_t address = 0;     // register
  bool transposed = false;  // LDSM.T: k runs along the rows of shared memory
};

// D += A B of one warp by m16n8k16 instructions. A comes from shared memory, two k-steps at a time, or lies in registers. B comes
// from shared memory, as fragments of 16 columns in a ring. The next fragment is loaded as soon as a slot is free.
struct WarpProduct {
  uint32_t blocks_m = 1;  // blocks of 16 rows
  uint32_t blocks_n = 1;  // blocks of 8 columns; even
  uint32_t steps = 1;     // steps of 16 along k
  uint32_t accumulators = 0;
  bool fresh = false;  // the first step overwrites the accumulators (adds to zero)
  // A in shared memory: `a.slots` is 2 x blocks_m, or blocks_m if registers are short. A in registers (a.slots = 0): fragment (m,
  // step) lies at a.first + (m x steps + step) x a_stride.
  FragmentRing a;
  uint32_t a_stride = 4;
  FragmentRing b;
};

struct ProductLines {
  Lines first_loads;  // loads that fill the rings before the first HMMA
  Lines products;     // HMMA instructions, with the other loads between them
};
ProductLines lines_of(const WarpProduct& product);

// HMMA instructions of a product.
constexpr uint32_t products_of(const WarpProduct& product) { return product.blocks_m * product.blocks_n * product.steps; }

}  // namespace warpfold::workloads
