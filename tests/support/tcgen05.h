#pragma once

#include <string>

#include "tests/support/machine.h"
#include "tests/support/random_programs.h"

namespace warpfold::test {

// Shape of a tcgen05.mma as one SM sees it; K is 32 bytes.
struct Product {
  int rows = 128;  // rows of D in the SM's tensor memory
  int columns = 256;
  bool a_in_tensor_memory = false;
  bool pair = false;    // cta_group::2
  bool narrow = false;  // operands of 8 bits
};

std::string product_line(const Product& product);
// A copy of the scales of 128 rows or columns, 512 bytes, to tensor memory.
std::string scale_copy_line();
// A commit: arrives at the first stage of the ring once all products are complete.
std::string commit_line(const std::string& effect);
// A wait for the ring's next phase.
Lines wait_lines(const std::string& effect);

// Kernels in which one warp issues the lines, or a product, `count` times, then commits, polls until the commit has
// arrived, and issues a NOP that needs the poll's result.
traces::Kernel chain_of_lines(const Lines& lines, int count);
traces::Kernel chain_of(const Product& product, int count);

// Two launches side by side. In each, one warp copies operands, one issues products and one reads the sums, through
// rings of two stages.
Scenario tcgen05_scenario(uint64_t tiles = 60);

}  // namespace warpfold::test
