#include "workloads/common/gradient_streams.h"

#include <algorithm>
#include <numeric>
#include <string>

namespace warpfold::workloads {
namespace {

traces::MemoryStream stream(const std::string& name, bool write, uint64_t needed, uint64_t requested) {
  const uint64_t divisor = std::gcd(needed, requested);
  return {name, write, needed / divisor, requested / divisor};
}

}  // namespace

std::vector<traces::MemoryStream> gradient_streams(const AttentionTiles& tiles, uint32_t tile_queries,
                                                   std::span<const QueryTile> key_blocks, uint64_t concurrent, uint64_t l2_bytes) {
  const uint64_t needed = (tiles.queries() + tile_queries - 1) / tile_queries;
  uint64_t requested = 0;
  for (const QueryTile& block : key_blocks) requested += block.full_blocks + block.masked_blocks;
  const uint64_t heads = (concurrent + key_blocks.size() - 1) / key_blocks.size();
  const uint64_t bytes_of_head = tiles.queries() * tiles.head_dim() * (2 + 2 + 4);
  const uint64_t once = heads * bytes_of_head <= l2_bytes ? std::min(needed, requested) : requested;
  const uint64_t sharing = tiles.heads() / tiles.kv_heads();
  return {stream("Q", false, once, requested),
          stream("dO", false, once, requested),
          stream("rows", false, once, requested),
          stream("K", false, 1, sharing),
          stream("V", false, 1, sharing),
          stream("dQ", true, once, requested),
          stream("dK", true, 1, 1),
          stream("dV", true, 1, 1)};
}

}  // namespace warpfold::workloads
