#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::workloads {

// CTAs of a GEMM's launch that work through the same number of tiles, in launch order.
struct TileShare {
  uint64_t tiles_per_cta;
  uint64_t ctas;
  // Stream-K: k-blocks of a tile that other CTAs begin, and of one that others end.
  uint64_t ended = 0;
  uint64_t begun = 0;
};

// `tiles` of clusters for `running` clusters of a persistent kernel, which take them in turn (round robin): the first ones may have
// one more.
//
//   5 for 2 clusters of 2 CTAs: 2 CTAs with 3, 2 CTAs with 2
std::vector<TileShare> tiles_in_turn(uint64_t tiles, uint64_t running, uint32_t cluster_ctas);

}  // namespace warpfold::workloads
