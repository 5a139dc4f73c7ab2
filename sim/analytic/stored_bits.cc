#include "sim/analytic/stored_bits.h"

#include <algorithm>

namespace warpfold::sim {
namespace {

uint64_t round_up_divide(uint64_t value, uint64_t by) { return (value + by - 1) / by; }

}  // namespace

uint64_t StoredBits::bytes() const { return round_up_divide(batch * heads * queries * keys, 8); }

uint64_t StoredBits::bytes_per_gpu() const {
  const uint64_t own = round_up_divide(bytes(), gpus);
  return round_up_divide(own * std::min<uint64_t>(segments, 2), segments);
}

bool splits_evenly(const StoredBits& bits, Parallelism parallelism) {
  return (parallelism == Parallelism::kTensor ? bits.heads : bits.queries) % bits.gpus == 0;
}

}  // namespace warpfold::sim
