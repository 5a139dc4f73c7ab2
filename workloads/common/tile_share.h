#pragma once

#include <cstdint>
#include <vector>

namespace warpfold::workloads {

// A group of consecutive CTAs of a GEMM's launch that process equally many tiles.
struct TileShare {
  uint64_t tiles_per_cta;
  uint64_t ctas;
  // Stream-K: k-blocks of a tile that other CTAs have begun, and of a tile that other CTAs will end.
  uint64_t ended = 0;
  uint64_t begun = 0;
};

// Assigns `tiles` cluster tiles round robin to the `running` clusters of a persistent kernel; the first clusters may get one more.
//
//   5 tiles for 2 clusters of 2 CTAs: 2 CTAs with 3, 2 CTAs with 2
std::vector<TileShare> tiles_in_turn(uint64_t tiles, uint64_t running, uint32_t cluster_ctas);

}  // namespace warpfold::workloads
