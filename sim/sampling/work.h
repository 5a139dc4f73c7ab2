#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

// Work of a stretch of a program.
struct Work {
  uint64_t instructions = 0;
  uint64_t bytes = 0;  // requested from L2

  Work operator+(const Work& other) const { return {instructions + other.instructions, bytes + other.bytes}; }
  Work operator-(const Work& other) const { return {instructions - other.instructions, bytes - other.bytes}; }
  Work operator*(uint64_t times) const { return {instructions * times, bytes * times}; }
};

// Work of a kernel's CTAs, and the work that a warp has left, from its position in the program and its trips left.
class WorkTable {
 public:
  explicit WorkTable(const KernelImage& image) : image_(image) {}

  Work of_cta(uint32_t cta_class);
  Work left(const Warp& warp, uint32_t cta_class);
  // Returns the work of one trip of the loop at `depth` around the warp's next instruction.
  Work of_trip(const Warp& warp, uint32_t cta_class, uint32_t depth);

 private:
  // Work before each instruction of a program. A loop that ends before the instruction counts with all its trips, a
  // loop around it with one.
  struct Sums {
    std::vector<Work> before;              // per instruction, then the total
    std::vector<Work> begin, end, passed;  // per loop: at its start, at the end of one trip, after all trips
  };
  const Sums& sums(const Program& program, uint32_t cta_class);

  const KernelImage& image_;
  std::map<std::pair<const Program*, uint32_t>, Sums> sums_;
};

}  // namespace warpfold::sim
