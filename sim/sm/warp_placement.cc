#include "sim/sm/warp_placement.h"

#include <algorithm>
#include <vector>

namespace warpfold::sim {

uint32_t first_sub_core(std::span<const uint32_t> free, uint32_t warps) {
  const auto cores = static_cast<uint32_t>(free.size());
  const uint32_t step = warps < std::min(cores, 4U) ? 1 : 4;
  uint32_t first = 0;
  for (uint32_t c = step; c < cores; c += step) {
    if (free[c] > free[first]) first = c;
  }
  return first;
}

uint32_t warp_slot_limit(const Spec& spec, uint32_t warps) {
  std::vector<uint32_t> free(spec.sub_cores, spec.warp_slots_per_sub_core);
  for (uint32_t ctas = 0;; ++ctas) {
    const uint32_t first = first_sub_core(free, warps);
    for (uint32_t w = 0; w < warps; ++w) {
      uint32_t& left = free[(first + w) % spec.sub_cores];
      if (left == 0) return ctas;
      --left;
    }
  }
}

}  // namespace warpfold::sim
