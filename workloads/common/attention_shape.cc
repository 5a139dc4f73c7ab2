#include "workloads/common/attention_shape.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace warpfold::workloads {
namespace {

uint64_t or_else(uint64_t value, uint64_t otherwise) { return value == 0 ? otherwise : value; }
uint64_t divide_up(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

}  // namespace

AttentionTiles::AttentionTiles(const configs::AttentionShape& shape, uint32_t tile_queries, uint32_t tile_keys)
    : batch_(or_else(shape.batch(), 1)),
      heads_(shape.heads()),
      kv_heads_(or_else(shape.kv_heads(), shape.heads())),
      queries_(shape.queries()),
      keys_(or_else(shape.keys(), shape.queries())),
      head_dim_(shape.head_dim()),
      element_bytes_(shape.type() == configs::FP8 ? 1 : 2),
      tile_queries_(tile_queries),
      tile_keys_(tile_keys),
      causal_(shape.causal()) {
  for (uint64_t first = 0; first < queries_; first += tile_queries_) {
    // Keys that all queries of the tile see, and that its last one sees.
    uint64_t all = keys_;
    uint64_t most = keys_;
    if (causal_) {
      const uint64_t last = std::min(queries_, first + tile_queries_);
      const auto seen = [&](uint64_t query) { return query + keys_ > queries_ ? std::min(keys_, query + keys_ - queries_) : 0; };
      all = seen(first + 1);
      most = seen(last);
    }
    const uint64_t full = all / tile_keys_;
    query_tiles_.push_back({full, divide_up(most, tile_keys_) - full});
  }
}

uint64_t AttentionTiles::key_blocks() const {
  return std::accumulate(query_tiles_.begin(), query_tiles_.end(), uint64_t{0},
                         [](uint64_t sum, const QueryTile& tile) { return sum + tile.full_blocks + tile.masked_blocks; });
}

uint64_t AttentionTiles::forward_flops() const {
  const uint64_t all = 4 * batch_ * heads_ * queries_ * keys_ * head_dim_;
  return causal_ ? all / 2 : all;
}

traces::MemoryStream AttentionTiles::key_stream(const std::string& name, uint64_t concurrent_tiles, uint64_t l2_bytes) const {
  const uint64_t tiles_of_kv_head = query_tiles_.size() * (heads_ / kv_heads_);
  const uint64_t concurrent_heads = divide_up(concurrent_tiles, tiles_of_kv_head);
  const uint64_t bytes_of_head = 2 * keys_ * head_dim_ * element_bytes_;  // K and V
  if (concurrent_heads * bytes_of_head > l2_bytes) return {name, false, 1, 1};
  const uint64_t needed = divide_up(keys_, tile_keys_);  // blocks of one head
  const uint64_t requested = key_blocks() * (heads_ / kv_heads_);
  const uint64_t divisor = std::gcd(needed, requested);
  return {name, false, std::min(needed, requested) / divisor, requested / divisor};
}

std::string describe(const configs::AttentionShape& shape) {
  std::ostringstream text;
  text << "batch=" << or_else(shape.batch(), 1) << " heads=" << shape.heads()
       << " kv_heads=" << or_else(shape.kv_heads(), shape.heads()) << " queries=" << shape.queries()
       << " keys=" << or_else(shape.keys(), shape.queries()) << " head_dim=" << shape.head_dim() << " "
       << configs::ElementType_Name(shape.type()) << (shape.causal() ? " causal" : "")
       << " dropout=" << configs::Dropout_Name(shape.dropout());
  if (shape.dropout() == configs::FUSED_PHILOX) text << " rounds=" << or_else(shape.philox_rounds(), 7);
  if (shape.dropout() == configs::FUSED_PHILOX) text << " threshold_bits=" << or_else(shape.threshold_bits(), 8);
  return text.str();
}

}  // namespace warpfold::workloads
