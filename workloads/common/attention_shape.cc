#include "workloads/common/attention_shape.h"

#include <algorithm>
#include <numeric>
#include <sstream>

namespace warpfold::workloads {
namespace {

uint64_t or_else(uint64_t value, uint64_t otherwise) { return value == 0 ? otherwise : value; }
uint64_t divide_up(uint64_t whole, uint64_t part) { return (whole + part - 1) / part; }

}  // namespace

AttentionTiles::AttentionTiles(const configs::AttentionShape& shape, uint32_t tile_queries, uint32_t tile_keys, bool packed)
    : batch_(or_else(shape.batch(), 1)),
      heads_(packed ? or_else(shape.kv_heads(), shape.heads()) : shape.heads()),
      kv_heads_(or_else(shape.kv_heads(), shape.heads())),
      rows_of_query_(packed ? shape.heads() / kv_heads_ : 1),
      queries_(shape.queries() * rows_of_query_),
      keys_(or_else(shape.keys(), shape.queries())),
      head_dim_(shape.head_dim()),
      element_bytes_(shape.type() == configs::FP8 ? 1 : 2),
      tile_queries_(tile_queries),
      tile_keys_(tile_keys),
      causal_(shape.causal()) {
  for (uint64_t first = 0; first < queries_; first += tile_queries_) {
    // `all`: keys that every query of the tile sees; `most`: keys that its last query sees.
    uint64_t all = keys_;
    uint64_t most = keys_;
    if (causal_) {
      const uint64_t last = std::min(queries_, first + tile_queries_);
      const uint64_t queries = queries_ / rows_of_query_;
      const auto seen = [&](uint64_t row) {
        const uint64_t query = row / rows_of_query_;
        return query + 1 + keys_ > queries ? std::min(keys_, query + 1 + keys_ - queries) : 0;
      };
      all = seen(first);
      most = seen(last - 1);
    }
    const uint64_t full = all / tile_keys_;
    query_tiles_.push_back({full, divide_up(most, tile_keys_) - full});
  }
}

uint64_t AttentionTiles::key_blocks() const {
  return std::accumulate(query_tiles_.begin(), query_tiles_.end(), uint64_t{0},
                         [](uint64_t sum, const QueryTile& tile) { return sum + tile.full_blocks + tile.masked_blocks; });
}

uint64_t AttentionTiles::parts(uint64_t splits) const {
  const uint64_t blocks = query_tiles_.back().full_blocks + query_tiles_.back().masked_blocks;
  const uint64_t part = divide_up(blocks, splits);
  return divide_up(blocks, part);
}

uint64_t AttentionTiles::forward_flops() const {
  const uint64_t all = 4 * batch_ * heads_ * queries_ * keys_ * head_dim_;
  const uint64_t queries = queries_ / rows_of_query_;
  if (!causal_) return all;
  if (queries >= keys_) return all / 2;
  const uint64_t unseen = queries * (queries - 1) / 2;  // keys behind a query, summed over all queries
  return all - 4 * batch_ * heads_ * rows_of_query_ * unseen * head_dim_;
}

namespace {

// Limits of the walk. The tiles of a launch repeat a pattern, so its first tiles suffice.
constexpr uint64_t kMostTiles = uint64_t{1} << 14;
constexpr uint64_t kMostSteps = uint64_t{1} << 18;  // over all tiles
constexpr uint64_t kFewestPieces = 8;               // per KV head
constexpr uint64_t kMostPieces = 64;

// Number of tiles to walk: whole rounds, after which the pattern repeats with other keys, unless a single round is too long.
uint64_t walked(uint64_t tiles, uint64_t round) {
  return std::min({tiles, std::max<uint64_t>(1, kMostTiles / round) * round, 4 * kMostTiles});
}

}  // namespace

std::vector<KeyWalk> AttentionTiles::walks(const KeyReaders& readers, uint64_t pieces) const {
  const uint64_t of_head = query_tiles_.size();
  const uint64_t blocks = divide_up(keys_, tile_keys_);
  const uint64_t sharing = heads_ / kv_heads_;
  using enum KeyReaders::Order;
  const uint64_t heads_of_round = readers.order == kBatchByBatch ? batch_ * sharing : std::lcm(readers.section, sharing);
  const uint64_t tiles = walked(batch_ * heads_ * of_head, heads_of_round * of_head);
  std::vector<KeyWalk> result;
  for (uint64_t i = 0; i < tiles; ++i) {
    uint64_t head = i / of_head;  // over all sequences, in launch order
    uint64_t tile = i % of_head;
    if (readers.order == kLongestFirst) {
      const uint64_t first = i / (readers.section * of_head) * readers.section;
      const uint64_t heads = std::min(readers.section, batch_ * heads_ - first);
      head = first + (i - first * of_head) % heads;
      tile = of_head - 1 - (i - first * of_head) / heads;
    }
    const uint64_t kv_head = readers.order == kBatchByBatch ? head / batch_ / sharing * batch_ + head % batch_ : head / sharing;
    const uint64_t end = query_tiles_[tile].full_blocks + query_tiles_[tile].masked_blocks;
    const uint64_t part = divide_up(end, readers.splits);
    for (uint64_t begin = 0; begin < end; begin += part) {
      const uint64_t part_end = std::min(end, begin + part);
      result.push_back({kv_head, divide_up(begin * pieces, blocks), divide_up(part_end * pieces, blocks)});
    }
  }
  return result;
}

traces::MemoryStream AttentionTiles::key_stream(const std::string& name, const KeyReaders& readers) const {
  const uint64_t blocks = divide_up(keys_, tile_keys_);
  const uint64_t tiles = std::min(kMostTiles, batch_ * heads_ * query_tiles_.size());
  const uint64_t pieces = std::min(blocks, std::clamp(kMostSteps / tiles, kFewestPieces, kMostPieces));
  KeyWalks walks{.tiles = this->walks(readers, pieces), .concurrent = readers.concurrent, .l2_bytes = readers.l2_bytes};
  walks.piece_bytes = 2 * keys_ * head_dim_ * element_bytes_ / pieces;  // K and V
  walks.tile_bytes = std::min<uint64_t>(queries_, tile_queries_) * head_dim_ * (element_bytes_ + 2);
  const KeyReuse reuse = key_reuse(walks);
  // Requests in units of one KV head's keys. The last block also requests keys behind the last key, which are not read from DRAM.
  const uint64_t requested = key_blocks() * (heads_ / kv_heads_) * tile_keys_;
  const double again = reuse.read_again / static_cast<double>(reuse.requested) * static_cast<double>(requested);
  const uint64_t dram = std::min(requested, std::min(keys_, requested) + static_cast<uint64_t>(again + 0.5));
  const uint64_t divisor = std::gcd(dram, requested);
  return {name, false, dram / divisor, requested / divisor, batch_ * kv_heads_ * keys_ * head_dim_ * element_bytes_};
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
