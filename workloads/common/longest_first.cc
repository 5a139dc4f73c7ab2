#include "workloads/common/longest_first.h"

#include <algorithm>
#include <bit>
#include <ranges>

namespace warpfold::workloads {

std::vector<uint64_t> longest_first(const AttentionTiles& tiles, uint64_t section) {
  const uint64_t heads = tiles.batch() * tiles.heads();
  std::vector<uint64_t> queue;
  for (uint64_t first = 0; first < heads; first += section) {
    const uint64_t sharing = std::min(section, heads - first);
    for (const QueryTile& tile : tiles.query_tiles() | std::views::reverse)
      queue.insert(queue.end(), sharing, tile.full_blocks + tile.masked_blocks);
  }
  return queue;
}

uint64_t heads_within(const AttentionTiles& tiles, uint64_t bytes) {
  const uint64_t bytes_of_head = 2 * tiles.keys() * tiles.head_dim() * tiles.element_bytes();
  return std::bit_floor(std::max<uint64_t>(1, bytes / bytes_of_head));
}

}  // namespace warpfold::workloads
