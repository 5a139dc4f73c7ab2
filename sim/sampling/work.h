#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/sm/kernel_image.h"
#include "sim/sm/warp.h"

namespace warpfold::sim {

// What a stretch of a program holds.
struct Work {
  uint64_t instructions = 0;
  uint64_t bytes = 0;  // requested from L2

  Work operator+(const Work& other) const { return {instructions + other.instructions, bytes + other.bytes}; }
  Work operator-(const Work& other) const { return {instructions - other.instructions, bytes - other.bytes}; }
  Work operator*(uint64_t times) const { return {instructions * times, bytes * times}; }
};

// How much work a kernel's CTAs hold and how much a warp has left, from its place in the program and the trips of its loops.
class WorkTable {
 public:
  explicit WorkTable(const KernelImage& image) : image_(image) {}

  Work of_cta(uint32_t cta_class);
  Work left(const Warp& warp, uint32_t cta_class);
  // One trip of the loop at `depth` around the warp's next instruction.
  Work of_trip(const Warp& warp, uint32_t cta_class, uint32_t depth);

 private:
  // Work in front of each instruction, loops that end before it counted with all their trips and open ones with one.
  struct Sums {
    std::vector<Work> before;              // per instruction, and the total behind them
    std::vector<Work> begin, end, passed;  // per loop: at its start, at the end of one pass, after all its passes
  };
  const Sums& sums(const Program& program, uint32_t cta_class);

  const KernelImage& image_;
  std::map<std::pair<const Program*, uint32_t>, Sums> sums_;
};

}  // namespace warpfold::sim
