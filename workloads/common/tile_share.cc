#include "workloads/common/tile_share.h"

namespace warpfold::workloads {

std::vector<TileShare> tiles_in_turn(uint64_t tiles, uint64_t running, uint32_t cluster_ctas) {
  const uint64_t each = tiles / running;
  const uint64_t longer = tiles % running;
  std::vector<TileShare> shares;
  if (longer > 0) shares.push_back({each + 1, longer * cluster_ctas});
  shares.push_back({each, (running - longer) * cluster_ctas});
  return shares;
}

}  // namespace warpfold::workloads
